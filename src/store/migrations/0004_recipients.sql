-- Recipients with their endpoints, groups and opt-outs; addresses that a vendor called dead; calls per recipient; and why
-- an operator paused a channel.

-- reason stays the breaker's, so that neither overwrites the other.
ALTER TABLE notification_lane ADD COLUMN pause_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE notification_lane ADD COLUMN paused_at INTEGER;

CREATE TABLE notification_recipient (
  id         TEXT PRIMARY KEY NOT NULL CHECK (length(CAST(id AS BLOB)) BETWEEN 1 AND 128),
  locale     TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- address is as it was given, match_address the form in which addresses are compared. The lowest position goes first.
CREATE TABLE notification_endpoint (
  recipient_id    TEXT NOT NULL,
  channel         TEXT NOT NULL,
  position        INTEGER NOT NULL,
  address         TEXT NOT NULL CHECK (address <> ''),
  match_address   TEXT NOT NULL CHECK (match_address <> ''),
  disabled_at     INTEGER,
  disabled_reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (recipient_id, channel, position)
) WITHOUT ROWID;
CREATE INDEX notification_endpoint_address ON notification_endpoint (channel, match_address);

CREATE TABLE notification_member (
  group_name   TEXT NOT NULL CHECK (group_name <> ''),
  recipient_id TEXT NOT NULL,
  PRIMARY KEY (group_name, recipient_id)
) WITHOUT ROWID;
CREATE INDEX notification_member_recipient ON notification_member (recipient_id);

-- What a vendor (or an operator, by address) called dead, whoever it belongs to.
CREATE TABLE notification_dead_address (
  channel       TEXT NOT NULL,
  match_address TEXT NOT NULL,
  disabled_at   INTEGER NOT NULL,
  reason        TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (channel, match_address)
) WITHOUT ROWID;

-- An opt-out. subject: '@' and a recipient's id, or an address in the form in which addresses are compared. Empty channel,
-- category, kind: all of them.
CREATE TABLE notification_consent (
  subject      TEXT NOT NULL CHECK (subject <> ''),
  channel      TEXT NOT NULL DEFAULT '',
  category     TEXT NOT NULL DEFAULT '' CHECK (category = '' OR category = 'transactional' OR category = 'advertising'),
  kind         TEXT NOT NULL DEFAULT '',
  opted_out_at INTEGER NOT NULL,
  PRIMARY KEY (subject, channel, category, kind)
) WITHOUT ROWID;

-- Calls of the last span of a channel's per_recipient limit; subject as above.
CREATE TABLE notification_recipient_call (
  channel    TEXT NOT NULL,
  subject    TEXT NOT NULL,
  at         INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  PRIMARY KEY (channel, subject, at, message_id)
) WITHOUT ROWID;
CREATE INDEX notification_recipient_call_age ON notification_recipient_call (channel, at);
