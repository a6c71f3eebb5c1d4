-- Broadcasts: one accepted request that the relay fans out to one message per recipient endpoint.

-- The list of recipients is a file beside the database, named by its SHA-256; the relay has gone through the first
-- fanned_bytes of it. FAILED: the list cannot be read; enqueuing the broadcast again opens it again.
CREATE TABLE notification_broadcast (
  id            INTEGER PRIMARY KEY,
  broadcast_key TEXT NOT NULL UNIQUE CHECK (length(CAST(broadcast_key AS BLOB)) BETWEEN 1 AND 512),
  fingerprint   BLOB NOT NULL CHECK (length(fingerprint) = 32),
  status        TEXT NOT NULL DEFAULT 'OPEN'
                CHECK (status = 'OPEN' OR status = 'DONE' OR status = 'CANCELLED' OR status = 'FAILED'),
  reason        TEXT NOT NULL DEFAULT '',
  list          TEXT NOT NULL CHECK (length(list) = 64),
  list_bytes    INTEGER NOT NULL CHECK (list_bytes > 0),
  recipients    INTEGER NOT NULL CHECK (recipients > 0),
  fanned_bytes  INTEGER NOT NULL DEFAULT 0 CHECK (fanned_bytes BETWEEN 0 AND list_bytes),
  fanned_out    INTEGER NOT NULL DEFAULT 0,
  messages      INTEGER NOT NULL DEFAULT 0,
  repeated      INTEGER NOT NULL DEFAULT 0,
  unreachable   INTEGER NOT NULL DEFAULT 0,
  channel       TEXT NOT NULL,
  kind          TEXT NOT NULL,
  category      TEXT NOT NULL,
  payload       TEXT NOT NULL,
  priority      INTEGER NOT NULL,
  not_before    INTEGER,
  expires_at    INTEGER,
  correlation   TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  CHECK (status <> 'DONE' OR fanned_bytes = list_bytes)
);
CREATE INDEX notification_broadcast_open ON notification_broadcast (id) WHERE status = 'OPEN';

CREATE TRIGGER notification_broadcast_transition BEFORE UPDATE OF status ON notification_broadcast
  WHEN NOT (NEW.status = OLD.status OR OLD.status = 'OPEN' OR
            (OLD.status = 'FAILED' AND (NEW.status = 'OPEN' OR NEW.status = 'CANCELLED')))
BEGIN
  SELECT RAISE(ABORT, 'notification_broadcast: illegal change of status');
END;

-- Who has a message already. recipient: "@ID", or the address; match_address: the form in which addresses are compared.
CREATE TABLE notification_broadcast_target (
  broadcast_id  INTEGER NOT NULL,
  recipient     TEXT NOT NULL,
  match_address TEXT NOT NULL,
  PRIMARY KEY (broadcast_id, recipient, match_address)
) WITHOUT ROWID;

CREATE INDEX notification_outbox_broadcast ON notification_outbox (broadcast_id, status) WHERE broadcast_id IS NOT NULL;
