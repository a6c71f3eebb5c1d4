-- What enqueue refuses is refused in the rows of other programs, too, as far as SQLite's functions can see it: characters
-- that hide or turn text, text that is not UTF-8 (which GLOB reads as U+FFFD), and messages that say nothing.

DROP TRIGGER notification_outbox_refuse;
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
END;

DROP TRIGGER notification_outbox_refuse_change;
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

-- What was handed on must stay what was sent. An operator's command that mends a message says so by an entry "mending"
-- within its transaction.
CREATE TRIGGER notification_outbox_content BEFORE UPDATE OF recipient, kind, category, payload ON notification_outbox
  WHEN OLD.status <> 'PENDING' AND
       (NEW.recipient IS NOT OLD.recipient OR NEW.kind IS NOT OLD.kind OR NEW.category IS NOT OLD.category OR
        NEW.payload IS NOT OLD.payload) AND
       NOT EXISTS (SELECT 1 FROM notification_meta WHERE key = 'mending')
BEGIN
  SELECT RAISE(ABORT, 'notification_outbox: recipient, kind, category and payload change only while PENDING');
END;
