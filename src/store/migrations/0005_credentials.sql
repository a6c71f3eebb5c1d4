-- Tokens that vendors were given or gave us, one for all processes, and who is fetching a new one. The file is 0600; nothing
-- here is ever shown.

CREATE TABLE notification_credential (
  name         TEXT PRIMARY KEY NOT NULL CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 200),
  -- NULL: none yet, or the last one was refused
  value        TEXT CHECK (value <> '' AND length(CAST(value AS BLOB)) <= 65536),
  made_at      INTEGER,
  expires_at   INTEGER,
  -- the run that fetches, and until when others wait for it
  fetch_holder INTEGER,
  fetch_until  INTEGER,
  CHECK ((value IS NULL) = (made_at IS NULL) AND (value IS NULL) = (expires_at IS NULL)),
  CHECK (expires_at > made_at),
  CHECK ((fetch_holder IS NULL) = (fetch_until IS NULL))
) WITHOUT ROWID;
