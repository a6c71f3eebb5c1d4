-- Evidence that comes later (delivery receipts, look-ups), and alerts that are told to somebody.

-- What a vendor said about a message after the call. Kept before it is acted on, and once only: the same file may be
-- imported again. A receipt names its message by id, by the vendor's reference, or both.
CREATE TABLE notification_receipt (
  id          INTEGER PRIMARY KEY,
  message_id  TEXT NOT NULL DEFAULT '',
  reference   TEXT NOT NULL DEFAULT '',
  channel     TEXT NOT NULL DEFAULT '',
  verdict     TEXT NOT NULL CHECK (verdict = 'accepted' OR verdict = 'refused'),
  attempt     INTEGER NOT NULL DEFAULT 0,
  at          INTEGER NOT NULL DEFAULT 0,
  received_at INTEGER NOT NULL,
  -- NULL: waits for its message, or for the end of its call
  applied_at  INTEGER,
  result      TEXT NOT NULL DEFAULT '',
  reason      TEXT NOT NULL DEFAULT '',
  CHECK (message_id <> '' OR reference <> ''),
  UNIQUE (message_id, reference, channel, verdict, attempt, at)
);
CREATE INDEX notification_receipt_waiting ON notification_receipt (id) WHERE applied_at IS NULL;

-- Most receipts know the vendor's id only. Channels whose vendor gives none pay nothing for this.
CREATE INDEX notification_inbox_reference ON notification_inbox (reference) WHERE reference <> '';
CREATE INDEX notification_attempt_reference ON notification_attempt (reference) WHERE reference <> '';

-- When the vendor was last asked about an ERROR.
ALTER TABLE notification_inbox ADD COLUMN looked_up_at INTEGER;

-- How often somebody was told; part of the key of the message that tells it.
ALTER TABLE notification_alert ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
CREATE INDEX notification_alert_untold ON notification_alert (id) WHERE notified_at IS NULL;
