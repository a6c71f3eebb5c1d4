-- What vendors report later may say more than what became of a message: that the address is dead, or that the lane is
-- broken.

-- A vendor may report twice about one message, first that it was delivered, then that it was complained about. So what a
-- receipt asks for is part of what makes it a new one. A constraint cannot be altered: the table is made anew.
CREATE TABLE notification_receipt_anew (
  id               INTEGER PRIMARY KEY,
  message_id       TEXT NOT NULL DEFAULT '',
  reference        TEXT NOT NULL DEFAULT '',
  channel          TEXT NOT NULL DEFAULT '',
  verdict          TEXT NOT NULL CHECK (verdict = 'accepted' OR verdict = 'refused'),
  disable_endpoint INTEGER NOT NULL DEFAULT 0 CHECK (disable_endpoint IN (0, 1)),
  halt_channel     INTEGER NOT NULL DEFAULT 0 CHECK (halt_channel IN (0, 1)),
  attempt          INTEGER NOT NULL DEFAULT 0,
  at               INTEGER NOT NULL DEFAULT 0,
  received_at      INTEGER NOT NULL,
  -- NULL: waits for its message, or for the end of its call
  applied_at       INTEGER,
  result           TEXT NOT NULL DEFAULT '',
  reason           TEXT NOT NULL DEFAULT '',
  CHECK (message_id <> '' OR reference <> ''),
  UNIQUE (message_id, reference, channel, verdict, disable_endpoint, halt_channel, attempt, at)
);
INSERT INTO notification_receipt_anew (id, message_id, reference, channel, verdict, attempt, at, received_at, applied_at,
                                       result, reason)
SELECT id, message_id, reference, channel, verdict, attempt, at, received_at, applied_at, result, reason
  FROM notification_receipt;
DROP TABLE notification_receipt;
ALTER TABLE notification_receipt_anew RENAME TO notification_receipt;
CREATE INDEX notification_receipt_waiting ON notification_receipt (id) WHERE applied_at IS NULL;

-- Where the last call of a message to "@ID" went; '' for all others, whose recipient is the address. The endpoint may be
-- another one when its vendor reports.
ALTER TABLE notification_inbox ADD COLUMN address TEXT NOT NULL DEFAULT '';

-- reported_at: a report halted the lane then, and only a report about a later call opens it: vendors who report trouble
-- have accepted the message before. opened_at: when it was last opened; reports about earlier calls say nothing about it.
ALTER TABLE notification_lane ADD COLUMN reported_at INTEGER;
ALTER TABLE notification_lane ADD COLUMN opened_at INTEGER NOT NULL DEFAULT 0;
