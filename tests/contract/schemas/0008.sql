PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE notification_meta (
  key   TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO notification_meta VALUES('created-at','2026-11-29T13:26:09Z');
INSERT INTO notification_meta VALUES('last-run.relay','1795958769500');
INSERT INTO notification_meta VALUES('schema','8');
INSERT INTO notification_meta VALUES('source','notification-outbox');
CREATE TABLE notification_generation (
  first_id   INTEGER PRIMARY KEY,
  generation TEXT NOT NULL UNIQUE CHECK (length(generation) = 8 AND generation NOT GLOB '*[^0-9a-f]*'),
  opened_at  INTEGER NOT NULL
);
INSERT INTO notification_generation VALUES(0,'0badcafe',1795958769000);
CREATE TABLE notification_counter (
  bucket INTEGER NOT NULL,
  name   TEXT NOT NULL,
  value  INTEGER NOT NULL,
  PRIMARY KEY (bucket, name)
) WITHOUT ROWID;
INSERT INTO notification_counter VALUES(0,'enqueued',7);
INSERT INTO notification_counter VALUES(0,'inbox.ERROR',1);
INSERT INTO notification_counter VALUES(0,'inbox.SENT',1);
INSERT INTO notification_counter VALUES(0,'outbox.PUBLISHED',4);
INSERT INTO notification_counter VALUES(0,'outbox.SKIPPED',1);
INSERT INTO notification_counter VALUES(5986529,'enqueued',7);
INSERT INTO notification_counter VALUES(5986529,'inbox.SENT',1);
CREATE TABLE notification_key (
  dedup_key   TEXT PRIMARY KEY NOT NULL,
  fingerprint BLOB,
  message_id  TEXT NOT NULL,
  pruned_at   INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO notification_key VALUES('old-key',NULL,'notification-outbox-0badcafe-0',1795958769000);
CREATE TABLE notification_insert_guard (
  use_on_conflict_do_nothing INTEGER PRIMARY KEY,
  replaced                   INTEGER NOT NULL
);
INSERT INTO notification_insert_guard VALUES(1,0);
CREATE TABLE notification_outbox (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  status          TEXT NOT NULL DEFAULT 'PENDING'
                  CHECK (status = 'PENDING' OR status = 'PUBLISHING' OR status = 'PUBLISHED' OR
                         status = 'SKIPPED' OR status = 'EXPIRED' OR status = 'FAILED'),
  -- Since when it may go, and when it is tried (next). 0 in a row that comes from another program, until the trigger
  -- below has seen it.
  due_at          INTEGER NOT NULL DEFAULT 0,
  ready_at        INTEGER NOT NULL DEFAULT 0,
  claim_token     INTEGER,
  claimed_by      INTEGER,
  claimed_until   INTEGER,
  attempts        INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  copy_may_be_out INTEGER NOT NULL DEFAULT 0 CHECK (copy_may_be_out IN (0, 1)),
  priority        INTEGER NOT NULL DEFAULT 5 CHECK (typeof(priority) = 'integer' AND priority BETWEEN 0 AND 9),
  not_before      INTEGER CHECK (not_before IS NULL OR
                                 (typeof(not_before) = 'integer' AND not_before BETWEEN 100000000001 AND 99999999999999)),
  expires_at      INTEGER CHECK (expires_at IS NULL OR
                                 (typeof(expires_at) = 'integer' AND expires_at BETWEEN 100000000001 AND 99999999999999)),
  created_at      INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER))
                  CHECK (typeof(created_at) = 'integer' AND created_at BETWEEN 100000000001 AND 99999999999999),
  updated_at      INTEGER NOT NULL DEFAULT 0,
  broadcast_id    INTEGER,
  channel         TEXT NOT NULL CHECK (typeof(channel) = 'text' AND length(channel) BETWEEN 1 AND 64),
  kind            TEXT NOT NULL DEFAULT '' CHECK (typeof(kind) = 'text'),
  category        TEXT NOT NULL DEFAULT 'transactional' CHECK (category IN ('transactional', 'advertising')),
  recipient       TEXT NOT NULL CHECK (typeof(recipient) = 'text' AND recipient <> ''),
  dedup_key       TEXT UNIQUE CHECK (dedup_key IS NULL OR (typeof(dedup_key) = 'text' AND dedup_key <> '')),
  correlation     TEXT NOT NULL DEFAULT '' CHECK (typeof(correlation) = 'text'),
  fingerprint     BLOB CHECK (fingerprint IS NULL OR length(fingerprint) = 32),
  reason          TEXT NOT NULL DEFAULT '',
  payload         TEXT NOT NULL CHECK (typeof(payload) = 'text' AND payload <> ''),
  original_payload TEXT,
  CHECK (expires_at IS NULL OR not_before IS NULL OR expires_at > not_before),
  CHECK (CASE status WHEN 'PUBLISHING'
                     THEN claim_token IS NOT NULL AND claimed_by IS NOT NULL AND claimed_until IS NOT NULL
                     ELSE claim_token IS NULL AND claimed_by IS NULL AND claimed_until IS NULL END)
);
INSERT INTO notification_outbox VALUES(1,'PENDING',1795958769000,1795958769000,NULL,NULL,NULL,0,0,5,NULL,NULL,1795958769000,1795958769000,NULL,'mail','order','transactional','a@example.com','pending','',NULL,'','{"body":"1"}',NULL);
INSERT INTO notification_outbox VALUES(2,'PUBLISHED',1795958769001,1795958769001,NULL,NULL,NULL,0,0,5,NULL,NULL,1795958769001,1795958770000,NULL,'mail','order','transactional','b@example.com','queued','',NULL,'','{"body":"2"}',NULL);
INSERT INTO notification_outbox VALUES(3,'PUBLISHED',1795958769002,1795958769002,NULL,NULL,NULL,0,0,5,NULL,NULL,1795958769002,1795958770000,NULL,'sms','code','transactional','+821000000000','sent','',NULL,'','{"body":"3"}',NULL);
INSERT INTO notification_outbox VALUES(4,'PUBLISHED',1795958769003,1795958769003,NULL,NULL,NULL,0,0,5,NULL,NULL,1795958769003,1795958770000,NULL,'sms','code','transactional','+821000000001','error','',NULL,'','{"body":"4"}',NULL);
INSERT INTO notification_outbox VALUES(5,'PUBLISHED',1795958769004,1795958769004,NULL,NULL,NULL,0,0,5,NULL,NULL,1795958769004,1795958770000,NULL,'mail','order','transactional','c@example.com','parked','',NULL,'','{"body":"5"}',NULL);
INSERT INTO notification_outbox VALUES(6,'SKIPPED',1795958769005,1795958769005,NULL,NULL,NULL,0,0,5,NULL,NULL,1795958769005,1795958770000,NULL,'mail','order','transactional','d@example.com','skipped','',NULL,'opted-out','{"body":"6"}',NULL);
INSERT INTO notification_outbox VALUES(7,'PUBLISHING',1795958769006,1795958769006,7,1,1795959669000,0,0,5,NULL,NULL,1795958769006,1795958769006,NULL,'mail','','transactional','e@example.com',NULL,'',NULL,'','{"body":"7"}',NULL);
CREATE TABLE notification_queue (
  message_id  TEXT PRIMARY KEY NOT NULL,
  outbox_id   INTEGER NOT NULL,
  channel     TEXT NOT NULL,
  kind        TEXT NOT NULL,
  priority    INTEGER NOT NULL,
  ready_at    INTEGER NOT NULL,
  due_at      INTEGER NOT NULL,
  lease_token INTEGER,
  leased_by   INTEGER,
  lost_leases INTEGER NOT NULL DEFAULT 0,
  tries       INTEGER NOT NULL DEFAULT 0,
  reason      TEXT NOT NULL DEFAULT '',
  queued_at   INTEGER NOT NULL,
  CHECK ((lease_token IS NULL) = (leased_by IS NULL))
) WITHOUT ROWID;
INSERT INTO notification_queue VALUES('notification-outbox-0badcafe-2',2,'mail','order',5,1795958770000,1795958769001,NULL,NULL,0,0,'',1795958770000);
CREATE TABLE notification_inbox (
  message_id     TEXT PRIMARY KEY NOT NULL CHECK (length(CAST(message_id AS BLOB)) BETWEEN 1 AND 100),
  outbox_id      INTEGER NOT NULL DEFAULT 0,
  channel        TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status = 'SENDING' OR status = 'SENT' OR status = 'FAILED' OR
                                      status = 'ERROR' OR status = 'SKIPPED'),
  claim_token    INTEGER,
  -- 0: the claim rests until resume_at
  holder         INTEGER NOT NULL DEFAULT 0,
  claimed_at     INTEGER,
  resume_at      INTEGER,
  first_call_at  INTEGER,
  calls          INTEGER NOT NULL DEFAULT 0,
  unknown_before INTEGER NOT NULL DEFAULT 0 CHECK (unknown_before IN (0, 1)),
  vendor_status  INTEGER NOT NULL DEFAULT 0,
  settled_at     INTEGER,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  reason         TEXT NOT NULL DEFAULT '',
  detail         TEXT NOT NULL DEFAULT '',
  reference      TEXT NOT NULL DEFAULT '', looked_up_at INTEGER, address TEXT NOT NULL DEFAULT '',
  CHECK (status = 'SKIPPED' OR (claim_token IS NOT NULL AND claimed_at IS NOT NULL AND first_call_at IS NOT NULL)),
  CHECK (status <> 'SENDING' OR holder <> 0 OR (resume_at IS NOT NULL AND unknown_before = 1)),
  CHECK ((status = 'SENDING') = (settled_at IS NULL))
) WITHOUT ROWID;
INSERT INTO notification_inbox VALUES('notification-outbox-0badcafe-3',3,'sms','SENT',5,2,1795958771000,NULL,1795958771000,1,0,200,1795958772000,1795958771000,1795958772000,'','','v-1',NULL,'+821000000003');
INSERT INTO notification_inbox VALUES('notification-outbox-0badcafe-4',4,'sms','ERROR',6,2,1795958771000,NULL,1795958771000,1,0,0,1795958772000,1795958771000,1795958772000,'timeout','','',NULL,'');
CREATE TABLE notification_parked (
  message_id  TEXT PRIMARY KEY NOT NULL,
  outbox_id   INTEGER NOT NULL DEFAULT 0,
  reason      TEXT NOT NULL,
  tries       INTEGER NOT NULL DEFAULT 0,
  parked_at   INTEGER NOT NULL,
  channel     TEXT NOT NULL,
  kind        TEXT NOT NULL,
  category    TEXT NOT NULL,
  priority    INTEGER NOT NULL,
  expires_at  INTEGER,
  enqueued_at INTEGER NOT NULL,
  recipient   TEXT NOT NULL,
  dedup_key   TEXT,
  correlation TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  payload     TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO notification_parked VALUES('notification-outbox-0badcafe-5',5,'template-missing',0,1795958771000,'mail','order','transactional',5,NULL,1795958769004,'c@example.com','parked','','no template "x"','{"body":"5"}');
CREATE TABLE notification_attempt (
  id             INTEGER PRIMARY KEY,
  message_id     TEXT NOT NULL,
  at             INTEGER NOT NULL,
  number         INTEGER NOT NULL,
  outcome        TEXT NOT NULL,
  status         INTEGER NOT NULL DEFAULT 0,
  bytes_sent     INTEGER NOT NULL DEFAULT 0,
  elapsed_ms     INTEGER NOT NULL DEFAULT 0,
  duplicate_risk INTEGER NOT NULL DEFAULT 0,
  phase          TEXT NOT NULL DEFAULT '',
  reason         TEXT NOT NULL DEFAULT '',
  detail         TEXT NOT NULL DEFAULT '',
  reference      TEXT NOT NULL DEFAULT ''
);
INSERT INTO notification_attempt VALUES(1,'notification-outbox-0badcafe-4',1795958772000,1,'unknown',0,0,0,0,'response','timeout','','');
CREATE TABLE notification_event (
  id         INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  at         INTEGER NOT NULL,
  name       TEXT NOT NULL,
  actor      TEXT NOT NULL DEFAULT '',
  detail     TEXT NOT NULL DEFAULT ''
);
INSERT INTO notification_event VALUES(1,'notification-outbox-0badcafe-5',1795958771000,'parked','work','template-missing');
CREATE TABLE notification_alert (
  id          INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL,
  subject     TEXT NOT NULL,
  message_id  TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  count       INTEGER NOT NULL DEFAULT 1,
  first_at    INTEGER NOT NULL,
  last_at     INTEGER NOT NULL,
  closed_at   INTEGER,
  notified_at INTEGER
, told INTEGER NOT NULL DEFAULT 0);
INSERT INTO notification_alert VALUES(1,'error','sms','notification-outbox-0badcafe-4','timeout',1,1795958772000,1795958772000,NULL,NULL,0);
CREATE TABLE notification_lane (
  channel           TEXT PRIMARY KEY NOT NULL,
  paused            INTEGER NOT NULL DEFAULT 0,
  paused_until      INTEGER,
  halted            INTEGER NOT NULL DEFAULT 0,
  probe_at          INTEGER NOT NULL DEFAULT 0,
  probe_interval_ms INTEGER NOT NULL DEFAULT 0,
  hold_until        INTEGER,
  refused_in_a_row  INTEGER NOT NULL DEFAULT 0,
  rate_next_us      INTEGER NOT NULL DEFAULT 0,
  updated_at        INTEGER NOT NULL,
  reason            TEXT NOT NULL DEFAULT ''
, pause_reason TEXT NOT NULL DEFAULT '', paused_at INTEGER, reported_at INTEGER, opened_at INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO notification_lane VALUES('sms',1,NULL,1,0,0,NULL,0,0,1795958772000,'maintenance','',NULL,1795958778000,1795958700000);
CREATE TABLE notification_run (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  command    TEXT NOT NULL,
  pid        INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  outcome    TEXT CHECK (outcome = 'ok' OR outcome = 'failed' OR outcome = 'dead'),
  summary    TEXT NOT NULL DEFAULT '',
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
INSERT INTO notification_run VALUES(1,'relay',101,1795958769500,NULL,NULL,'');
INSERT INTO notification_run VALUES(2,'work',102,1795958771000,NULL,NULL,'');
CREATE TABLE notification_recipient (
  id         TEXT PRIMARY KEY NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 128),
  locale     TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO notification_recipient VALUES('42','ko',1795975423853,1795975423853);
INSERT INTO notification_recipient VALUES('43','',1795975423864,1795975423864);
CREATE TABLE notification_endpoint (
  recipient_id    TEXT NOT NULL,
  channel         TEXT NOT NULL,
  position        INTEGER NOT NULL,
  address         TEXT NOT NULL CHECK (address <> ''),
  match_address   TEXT NOT NULL CHECK (match_address <> ''),
  disabled_at     INTEGER,
  disabled_reason TEXT NOT NULL DEFAULT '', registered_at INTEGER,
  PRIMARY KEY (recipient_id, channel, position)
) WITHOUT ROWID;
INSERT INTO notification_endpoint VALUES('42','mail',0,'ann@example.com','ann@example.com',NULL,'',NULL);
INSERT INTO notification_endpoint VALUES('42','sms',0,'+821012345678','+821012345678',NULL,'',1795975423887);
INSERT INTO notification_endpoint VALUES('43','push',0,'token-1','token-1',1795975423887,'moved',NULL);
INSERT INTO notification_endpoint VALUES('43','push',1,'token-2','token-2',1795975423887,'moved',NULL);
CREATE TABLE notification_member (
  group_name   TEXT NOT NULL CHECK (group_name <> ''),
  recipient_id TEXT NOT NULL,
  PRIMARY KEY (group_name, recipient_id)
) WITHOUT ROWID;
INSERT INTO notification_member VALUES('staff','42');
CREATE TABLE notification_dead_address (
  channel       TEXT NOT NULL,
  match_address TEXT NOT NULL,
  disabled_at   INTEGER NOT NULL,
  reason        TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (channel, match_address)
) WITHOUT ROWID;
INSERT INTO notification_dead_address VALUES('mail','gone@example.com',1795975423909,'returned');
CREATE TABLE notification_consent (
  subject      TEXT NOT NULL CHECK (subject <> ''),
  channel      TEXT NOT NULL DEFAULT '',
  category     TEXT NOT NULL DEFAULT '' CHECK (category = '' OR category = 'transactional' OR category = 'advertising'),
  kind         TEXT NOT NULL DEFAULT '',
  opted_out_at INTEGER NOT NULL,
  PRIMARY KEY (subject, channel, category, kind)
) WITHOUT ROWID;
INSERT INTO notification_consent VALUES('@42','','advertising','',1795975423927);
CREATE TABLE notification_recipient_call (
  channel    TEXT NOT NULL,
  subject    TEXT NOT NULL,
  at         INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  PRIMARY KEY (channel, subject, at, message_id)
) WITHOUT ROWID;
INSERT INTO notification_recipient_call VALUES('sms','+821012345678',1700000000000,'notification-outbox-00000000-1');
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
INSERT INTO notification_credential VALUES('push:0f1e2d3c','token',1795958769000,1795962369000,NULL,NULL);
INSERT INTO notification_credential VALUES('push:4b5a6978',NULL,NULL,NULL,1,1795958779000);
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
INSERT INTO notification_broadcast VALUES(1,'closing',X'0000000000000000000000000000000000000000000000000000000000000000','OPEN','','58c691fa8b0d643ab767b3e86d21467b9b85c7124b224b144c0c7e8b63993021',30,2,15,1,1,0,0,'sms','','transactional','{"body":"x"}',5,NULL,NULL,'',1795958769000,1795958769000);
CREATE TABLE notification_broadcast_target (
  broadcast_id  INTEGER NOT NULL,
  recipient     TEXT NOT NULL,
  match_address TEXT NOT NULL,
  PRIMARY KEY (broadcast_id, recipient, match_address)
) WITHOUT ROWID;
INSERT INTO notification_broadcast_target VALUES(1,'+821012345678','+821012345678');
CREATE TABLE IF NOT EXISTS "notification_receipt" (
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
INSERT INTO notification_receipt VALUES(1,'notification-outbox-0badcafe-4','','','refused',0,0,1,1795958775000,1795958776000,1795958776000,'noted','no such number');
INSERT INTO notification_receipt VALUES(2,'','vendor-77','sms','accepted',0,0,0,0,1795958777000,NULL,'','');
INSERT INTO notification_receipt VALUES(3,'notification-outbox-0badcafe-3','v-1','sms','refused',1,1,0,0,1795958778000,1795958778000,'noted','4410');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('notification_outbox',7);
INSERT INTO sqlite_sequence VALUES('notification_run',2);
CREATE INDEX notification_outbox_pending ON notification_outbox (channel, priority DESC, kind, ready_at, due_at)
  WHERE status = 'PENDING';
CREATE INDEX notification_outbox_publishing ON notification_outbox (claimed_by, claimed_until)
  WHERE status = 'PUBLISHING';
CREATE INDEX notification_outbox_copy_out ON notification_outbox (id)
  WHERE status = 'PENDING' AND copy_may_be_out = 1;
CREATE INDEX notification_outbox_closed ON notification_outbox (status, updated_at)
  WHERE status = 'SKIPPED' OR status = 'EXPIRED' OR status = 'FAILED';
CREATE TRIGGER notification_outbox_born BEFORE INSERT ON notification_outbox
  WHEN NEW.status <> 'PENDING' OR NEW.attempts <> 0 OR NEW.copy_may_be_out <> 0
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: a new row is PENDING');
END;
CREATE TRIGGER notification_outbox_used_key BEFORE INSERT ON notification_outbox
  WHEN NEW.dedup_key IS NOT NULL AND EXISTS (SELECT 1 FROM notification_key WHERE dedup_key = NEW.dedup_key)
BEGIN
  SELECT RAISE(IGNORE);
END;
CREATE TRIGGER notification_outbox_adopt AFTER INSERT ON notification_outbox WHEN NEW.due_at = 0
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: leave id out; it is assigned')
   WHERE NEW.id <= coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'notification_outbox'), 0);
  UPDATE notification_outbox
     SET due_at = max(created_at, coalesce(not_before, 0)), ready_at = max(created_at, coalesce(not_before, 0)),
         updated_at = created_at
   WHERE id = NEW.id;
  INSERT OR IGNORE INTO notification_counter (bucket, name, value) VALUES (0, 'enqueued', 0);
  UPDATE notification_counter SET value = value + 1 WHERE bucket = 0 AND name = 'enqueued';
  INSERT OR IGNORE INTO notification_counter (bucket, name, value) VALUES (NEW.created_at / 300000, 'enqueued', 0);
  UPDATE notification_counter SET value = value + 1 WHERE bucket = NEW.created_at / 300000 AND name = 'enqueued';
END;
CREATE TRIGGER notification_outbox_transition BEFORE UPDATE OF status ON notification_outbox
  WHEN NOT (NEW.status = OLD.status OR
            CASE OLD.status
              WHEN 'PENDING' THEN NEW.status <> 'PUBLISHED'
              WHEN 'PUBLISHING' THEN NEW.status = 'PENDING' OR NEW.status = 'PUBLISHED'
              ELSE NEW.status = 'PENDING' END)
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: illegal change of status');
END;
CREATE TRIGGER notification_outbox_identity
  BEFORE UPDATE OF id, dedup_key, channel, created_at ON notification_outbox
  WHEN NEW.id IS NOT OLD.id OR NEW.dedup_key IS NOT OLD.dedup_key OR NEW.channel IS NOT OLD.channel OR
       NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: id, dedup_key, channel and created_at never change');
END;
CREATE TRIGGER notification_outbox_keep BEFORE DELETE ON notification_outbox
  WHEN OLD.status = 'PENDING' OR OLD.status = 'PUBLISHING' OR
       NOT EXISTS (SELECT 1 FROM notification_meta WHERE key = 'pruning')
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: rows are never deleted by other programs');
END;
CREATE INDEX notification_queue_waiting ON notification_queue (channel, priority DESC, kind, ready_at, due_at)
  WHERE leased_by IS NULL;
CREATE INDEX notification_queue_leased ON notification_queue (channel, ready_at)
  WHERE leased_by IS NOT NULL;
CREATE INDEX notification_inbox_sending ON notification_inbox (holder) WHERE status = 'SENDING';
CREATE INDEX notification_inbox_closed ON notification_inbox (status, updated_at)
  WHERE status = 'FAILED' OR status = 'ERROR' OR status = 'SKIPPED';
CREATE TRIGGER notification_inbox_born BEFORE INSERT ON notification_inbox 
  WHEN NEW.status <> 'SENDING' AND NEW.status <> 'SKIPPED'
BEGIN
  SELECT RAISE(ABORT, 'notification_inbox: a new row is SENDING or SKIPPED');
END;
CREATE TRIGGER notification_inbox_transition BEFORE UPDATE OF status ON notification_inbox
  WHEN NOT (NEW.status = OLD.status OR
            CASE OLD.status
              WHEN 'SENDING' THEN NEW.status <> 'SKIPPED'
              WHEN 'ERROR' THEN NEW.status = 'SENT' OR NEW.status = 'FAILED'
              ELSE 0 END)
BEGIN
  SELECT RAISE(ABORT, 'notification_inbox: illegal change of status');
END;
CREATE TRIGGER notification_inbox_keep BEFORE DELETE ON notification_inbox
  WHEN (OLD.status = 'SENT' AND NOT EXISTS (SELECT 1 FROM notification_meta WHERE key = 'pruning')) OR
       (OLD.status = 'SENDING' AND OLD.unknown_before = 1)
BEGIN
  SELECT RAISE(ABORT, 'notification_inbox: this claim is never given back');
END;
CREATE INDEX notification_parked_reason ON notification_parked (reason, channel);
CREATE INDEX notification_attempt_message ON notification_attempt (message_id);
CREATE INDEX notification_event_message ON notification_event (message_id);
CREATE UNIQUE INDEX notification_alert_open ON notification_alert (kind, subject) WHERE closed_at IS NULL;
CREATE INDEX notification_run_open ON notification_run (id) WHERE ended_at IS NULL;
CREATE TRIGGER notification_outbox_refuse BEFORE INSERT ON notification_outbox WHEN NEW.due_at = 0
BEGIN
  -- INSERT OR REPLACE would delete the row that has this key and send its message again under a new id. The conflict
  -- policy of the outer statement rules the inner ones: under REPLACE this changes the row, under ABORT, FAIL and
  -- ROLLBACK it fails, otherwise it does nothing.
  INSERT OR IGNORE INTO notification_insert_guard VALUES (1, 1);
  SELECT RAISE(ABORT, 'notification_outbox: REPLACE is refused; use ON CONFLICT (dedup_key) DO NOTHING')
   WHERE (SELECT replaced FROM notification_insert_guard) = 1;
  -- A chosen id could be one that was used before, or leave none for those that come after. (NEW.id is -1 when it is left out.)
  SELECT RAISE(ABORT, 'notification_outbox: leave id out; it is assigned')
   WHERE NEW.id > 0;
  SELECT RAISE(ABORT, 'notification_outbox: channel must match [a-z0-9][a-z0-9_.-]* and have at most 64 characters')
   WHERE NEW.channel IS NULL OR typeof(NEW.channel) <> 'text' OR length(NEW.channel) > 64 OR
         length(CAST(NEW.channel AS BLOB)) <> length(NEW.channel) OR
         NEW.channel NOT GLOB '[a-z0-9]*' OR NEW.channel GLOB '*[^a-z0-9_.-]*';
  SELECT RAISE(ABORT, 'notification_outbox: recipient must be a text of 1 to 2048 bytes without control characters')
   WHERE NEW.recipient IS NULL OR typeof(NEW.recipient) <> 'text' OR
         length(CAST(NEW.recipient AS BLOB)) NOT BETWEEN 1 AND 2048 OR instr(NEW.recipient, char(0)) <> 0 OR
         NEW.recipient GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) ||
              char(1564, 8206, 8207, 8232, 8233) || char(8234) || '-' || char(8238) || char(8294) || '-' || char(8297) ||
              char(65279, 65533) || ']*';
  SELECT RAISE(ABORT, 'notification_outbox: payload must be the text of a JSON object of at most 1 MiB')
   WHERE NEW.payload IS NULL OR typeof(NEW.payload) <> 'text' OR length(CAST(NEW.payload AS BLOB)) > 1048576 OR
         NOT json_valid(NEW.payload) OR ltrim(NEW.payload, char(32, 9, 10, 13)) NOT GLOB '{*';
  -- Looked for as text, which is cheap: what it says is found out by the worker. A member's name that is written with escapes
  -- is let through.
  SELECT RAISE(ABORT, 'notification_outbox: payload says nothing; it needs a subject, body, html, data or template')
   WHERE instr(NEW.payload, '"body"') = 0 AND instr(NEW.payload, '"subject"') = 0 AND
         instr(NEW.payload, '"template"') = 0 AND instr(NEW.payload, '"html"') = 0 AND
         instr(NEW.payload, '"data"') = 0 AND instr(NEW.payload, '\') = 0;
  SELECT RAISE(ABORT, 'notification_outbox: dedup_key must be a text of 1 to 512 bytes, or NULL')
   WHERE NEW.dedup_key IS NOT NULL AND
         (typeof(NEW.dedup_key) <> 'text' OR length(CAST(NEW.dedup_key AS BLOB)) NOT BETWEEN 1 AND 512 OR
          instr(NEW.dedup_key, char(0)) <> 0);
  SELECT RAISE(ABORT, 'notification_outbox: kind must be a text of at most 128 bytes without control characters')
   WHERE NEW.kind IS NULL OR typeof(NEW.kind) <> 'text' OR length(CAST(NEW.kind AS BLOB)) > 128 OR
         instr(NEW.kind, char(0)) <> 0 OR
         NEW.kind GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) ||
              char(1564, 8206, 8207, 8232, 8233) || char(8234) || '-' || char(8238) || char(8294) || '-' || char(8297) ||
              char(65279, 65533) || ']*';
  SELECT RAISE(ABORT, 'notification_outbox: correlation must be a text of at most 128 bytes without control characters')
   WHERE NEW.correlation IS NULL OR typeof(NEW.correlation) <> 'text' OR
         length(CAST(NEW.correlation AS BLOB)) > 128 OR instr(NEW.correlation, char(0)) <> 0 OR
         NEW.correlation GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) ||
                              char(8232, 8233) || ']*';
  SELECT RAISE(ABORT, 'notification_outbox: category must be transactional or advertising')
   WHERE NEW.category IS NULL OR NEW.category NOT IN ('transactional', 'advertising');
  SELECT RAISE(ABORT, 'notification_outbox: priority must be an integer from 0 to 9')
   WHERE NEW.priority IS NULL OR typeof(NEW.priority) <> 'integer' OR NEW.priority NOT BETWEEN 0 AND 9;
  SELECT RAISE(ABORT, 'notification_outbox: not_before, expires_at and created_at are integer milliseconds since 1970')
   WHERE NEW.created_at IS NULL OR typeof(NEW.created_at) <> 'integer' OR
         NEW.created_at NOT BETWEEN 100000000001 AND 99999999999999 OR
         (NEW.not_before IS NOT NULL AND
          (typeof(NEW.not_before) <> 'integer' OR NEW.not_before NOT BETWEEN 100000000001 AND 99999999999999)) OR
         (NEW.expires_at IS NOT NULL AND
          (typeof(NEW.expires_at) <> 'integer' OR NEW.expires_at NOT BETWEEN 100000000001 AND 99999999999999));
  SELECT RAISE(ABORT, 'notification_outbox: expires_at must be later than not_before')
   WHERE NEW.expires_at <= NEW.not_before;
END
;
CREATE TRIGGER notification_outbox_refuse_change
  BEFORE UPDATE OF recipient, kind, correlation, payload ON notification_outbox
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: recipient must be a text of 1 to 2048 bytes without control characters')
   WHERE typeof(NEW.recipient) <> 'text' OR length(CAST(NEW.recipient AS BLOB)) NOT BETWEEN 1 AND 2048 OR
         instr(NEW.recipient, char(0)) <> 0 OR
         NEW.recipient GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) ||
              char(1564, 8206, 8207, 8232, 8233) || char(8234) || '-' || char(8238) || char(8294) || '-' || char(8297) ||
              char(65279, 65533) || ']*';
  SELECT RAISE(ABORT, 'notification_outbox: payload must be the text of a JSON object of at most 1 MiB')
   WHERE typeof(NEW.payload) <> 'text' OR length(CAST(NEW.payload AS BLOB)) > 1048576 OR
         NOT json_valid(NEW.payload) OR ltrim(NEW.payload, char(32, 9, 10, 13)) NOT GLOB '{*';
  SELECT RAISE(ABORT, 'notification_outbox: kind must be a text of at most 128 bytes without control characters')
   WHERE typeof(NEW.kind) <> 'text' OR length(CAST(NEW.kind AS BLOB)) > 128 OR instr(NEW.kind, char(0)) <> 0 OR
         NEW.kind GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) ||
              char(1564, 8206, 8207, 8232, 8233) || char(8234) || '-' || char(8238) || char(8294) || '-' || char(8297) ||
              char(65279, 65533) || ']*';
  SELECT RAISE(ABORT, 'notification_outbox: correlation must be a text of at most 128 bytes without control characters')
   WHERE typeof(NEW.correlation) <> 'text' OR length(CAST(NEW.correlation AS BLOB)) > 128 OR
         instr(NEW.correlation, char(0)) <> 0 OR
         NEW.correlation GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) ||
                              char(8232, 8233) || ']*';
END;
CREATE TRIGGER notification_outbox_content BEFORE UPDATE OF recipient, kind, category, payload ON notification_outbox
  WHEN OLD.status <> 'PENDING' AND
       (NEW.recipient IS NOT OLD.recipient OR NEW.kind IS NOT OLD.kind OR NEW.category IS NOT OLD.category OR
        NEW.payload IS NOT OLD.payload) AND
       NOT EXISTS (SELECT 1 FROM notification_meta WHERE key = 'mending')
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: recipient, kind, category and payload change only while PENDING');
END;
CREATE INDEX notification_inbox_reference ON notification_inbox (reference) WHERE reference <> '';
CREATE INDEX notification_attempt_reference ON notification_attempt (reference) WHERE reference <> '';
CREATE INDEX notification_alert_untold ON notification_alert (id) WHERE notified_at IS NULL;
CREATE INDEX notification_endpoint_address ON notification_endpoint (channel, match_address);
CREATE INDEX notification_member_recipient ON notification_member (recipient_id);
CREATE INDEX notification_recipient_call_age ON notification_recipient_call (channel, at);
CREATE INDEX notification_broadcast_open ON notification_broadcast (id) WHERE status = 'OPEN';
CREATE TRIGGER notification_broadcast_transition BEFORE UPDATE OF status ON notification_broadcast
  WHEN NOT (NEW.status = OLD.status OR OLD.status = 'OPEN' OR
            (OLD.status = 'FAILED' AND (NEW.status = 'OPEN' OR NEW.status = 'CANCELLED')))
BEGIN
  SELECT RAISE(ABORT, 'notification_broadcast: illegal change of status');
END;
CREATE INDEX notification_outbox_broadcast ON notification_outbox (broadcast_id, status) WHERE broadcast_id IS NOT NULL;
CREATE INDEX notification_receipt_waiting ON notification_receipt (id) WHERE applied_at IS NULL;
COMMIT;
