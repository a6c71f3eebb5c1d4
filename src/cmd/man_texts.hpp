#pragma once

// Texts of the manual that belong to no single command. Marks as in Page (command.hpp).

#include <array>
#include <string_view>
#include <utility>

namespace notify::man_texts {

using Entry = std::pair<std::string_view, std::string_view>;

inline constexpr std::string_view kMain =
    "Any script, cron job or program hands over notifications with `notifyctl enqueue`, or by an INSERT of "
    "its own "
    "(notifyctl-sql(5)). From then on none of them is lost and none is sent twice. The state is one SQLite "
    "database. Nothing else has to run.\n\n"
    "A message takes two steps. `notifyctl relay` hands it from the outbox to the queue, where it stays "
    "until that is "
    "confirmed: this stretch may repeat itself. `notifyctl work` takes it from the queue, writes the "
    "message's id "
    "into the inbox under a unique index, and only then calls the vendor: whatever was repeated before stops "
    "there. "
    "Run both from cron every minute, overlapping or not, or keep them running as services.\n\n"
    "The call itself is at most once unless the receiver honours an idempotency key: when its outcome cannot "
    "be known, "
    "the message becomes ERROR, an alert is raised, and it is not sent again by itself.\n\n"
    "What was accepted is at any moment in one visible place: `notifyctl status` counts them, `notifyctl "
    "show` tells "
    "the life of one. Nothing ends silently.";

inline constexpr std::string_view kTimes =
    "Durations are numbers with units, from large to small: `250ms`, `10s`, `15m`, `1h30m`, `3d`, `2w`.\n\n"
    "Times are RFC 3339 with a zone (`2026-11-29T08:00:00+09:00`), seconds since 1970 (`@1795941966`), a "
    "duration from "
    "now (`+2h`, `90m`, `3d`), or a date or time of day in the configured zone (`2026-11-29 08:00`, `today "
    "08:00`, "
    "`tomorrow 08:00`). Without a configured zone the last kind is refused.";

inline constexpr auto kVariables = std::to_array<Entry>({
    {"NO_COLOR", "When set and not empty, no colours unless `--color` asks for them."},
    {"SSL_CERT_FILE", "The certificate authorities that TLS trusts, unless the configuration names them."},
    {"XDG_CONFIG_HOME", "Where the user's configuration is, see `--config`."},
    {"XDG_STATE_HOME", "Where the user's database is, see `--db`."},
});

inline constexpr auto kFiles = std::to_array<Entry>({
    {"/etc/notifyctl/config.toml", "The machine's configuration."},
    {"/var/lib/notifyctl/notify.db", "The database of root."},
    {"~/.local/state/notifyctl/notify.db", "The database of everybody else."},
    {"DATABASE\\-wal , DATABASE\\-shm",
     "SQLite's log and index of it. They belong to the database; never remove them."},
    {"DATABASE\\-procs", "Locks by which processes see which others are alive. Never needs removing."},
});

inline constexpr std::string_view kDiagnostics =
    "Standard output carries data and nothing else. Errors are two lines on standard error, `notifyctl: what "
    "failed: "
    "why` and `hint: what to do`; with `--json` one object with the members `code`, `exit`, `message` and "
    "`hint` in "
    "`error`. Commands that succeed say nothing unless they were asked something.";

inline constexpr std::string_view kConfig =
    "One TOML file configures everything. The one named by `--config` or `NOTIFYCTL_CONFIG` is read, else "
    "the first of "
    "`$XDG_CONFIG_HOME/notifyctl/config.toml` (`~/.config` when the variable is unset) and "
    "`/etc/notifyctl/config.toml`. Without any, every key has its default and there are no channels; that is "
    "enough "
    "to accept messages.\n\n"
    "A key that is not described here is an error. `notifyctl check` reports everything that is wrong at "
    "once, with "
    "line and column, and `notifyctl init --config` writes a file to start from.";

inline constexpr auto kConfigSections = std::to_array<Entry>({
    {"SECRETS",
     "Passwords, tokens, signing keys and URLs that are secret are written as `{ file = \"/path\" }` or "
     "`{ env = \"NAME\" }`. The file must not be readable or writable by group or others; one line end at "
     "its end is "
     "not part of the secret. A plain string is accepted only when the configuration file itself may be read "
     "by its "
     "owner alone. Secrets are read by the commands that send, not by the others, and never printed."},
    {"TIME LIMITS",
     "These must be nested, and are checked when the file is read: `connect_timeout` < `timeout` < "
     "`queue.lease` < "
     "`stale_after`; `timeout` < `work.shutdown_grace`; `relay.confirm_timeout` < `relay.batch_deadline` < "
     "`relay.lease`."},
    {"TEMPLATES",
     "A file `NAME.toml` in the directory is the template NAME. The keys `subject`, `body`, `html` and `alt` "
     "at its top "
     "are the wording for every channel and locale. Each table `[[variant]]` has a `channel`, a `locale` or "
     "both, and a "
     "wording of its own, which is taken as a whole. `{{name}}` stands for the variable `name`; in `html` "
     "its value is "
     "escaped. `{{name:-text}}` gives a default. A variable that has neither value nor default is an error "
     "when the "
     "message is accepted."},
});

inline constexpr std::string_view kConfigExample =
    "database = \"/var/lib/notifyctl/notify.db\"\n"
    "environment = \"production\"\n"
    "timezone = \"Asia/Seoul\"\n"
    "\n"
    "[quiet_hours.advertising]\n"
    "relay  = { from = \"20:40\", until = \"08:00\" }\n"
    "worker = { from = \"20:50\", until = \"08:00\" }\n"
    "\n"
    "[channels.ops]\n"
    "driver = \"webhook\"\n"
    "url = { file = \"/etc/notifyctl/ops-hook.secret\" }\n"
    "rate = \"1/s\"\n"
    "\n"
    "[channels.sms]\n"
    "driver = \"exec\"\n"
    "command = [\"/usr/local/bin/send-sms\"]\n"
    "timeout = \"20s\"\n"
    "\n"
    "[alerts]\n"
    "exec = [\"/usr/local/bin/page\"]";

inline constexpr std::string_view kSqlSynopsis =
    "INSERT INTO notification_outbox (dedup_key, channel, recipient, payload)\n"
    "VALUES ('order-paid:42', 'mail', 'a@example.com',\n"
    "        '{\"subject\":\"Paid\",\"body\":\"Thank you\"}')\n"
    "ON CONFLICT (dedup_key) DO NOTHING;";

inline constexpr std::string_view kSql =
    "After `notifyctl --db app.db init` any SQLite client may insert messages inside a transaction of its "
    "own, in any "
    "language and without linking anything: the message exists exactly when the transaction commits. "
    "`notifyctl relay` "
    "and `notifyctl work` with the same `--db` deliver it.\n\n"
    "`init` makes tables whose names begin with `notification_` in the application's file and touches "
    "nothing else. It "
    "changes the journal mode only with `--wal`, and says so when it must be changed; the database has to be "
    "in WAL mode. "
    "How durable such an insert is depends on the application's own connection: use `PRAGMA "
    "synchronous=FULL` for the "
    "guarantee that `notifyctl enqueue` gives, and set a busy timeout.\n\n"
    "Constraints refuse what the relay could not handle. Write only the columns below, and only by INSERT; "
    "everything "
    "else is the program's own and may change. While a row is PENDING its recipient, kind, category and payload may "
    "still be updated, which does not change what its key is compared with; later that is refused. Rows must not be "
    "deleted: see notifyctl-cancel(1) and notifyctl-prune(1).";

inline constexpr auto kSqlColumns = std::to_array<Entry>({
    {"channel", "Name of the channel: a-z, 0-9, `_`, `-` and `.`. Required."},
    {"recipient",
     "Whom to send to, as the channel wants it: UTF-8 without control characters and without characters that hide or "
     "turn text. Required."},
    {"payload", "A JSON object, see below; it needs a subject, body, html, data or template. Required."},
    {"dedup_key",
     "At most 512 bytes; a second row with the same key is refused by the unique index. NULL: no key. Keys "
     "that grow with time are cheap, random ones cost several times as much."},
    {"kind", "What the message is about, for filters and statistics. At most 128 bytes."},
    {"category", "`transactional` (the default) or `advertising`."},
    {"not_before", "Not to be sent earlier: milliseconds since 1970 UTC as an integer."},
    {"expires_at", "Worthless from then on: milliseconds since 1970 UTC as an integer."},
    {"priority", "0 to 9, 9 is the most urgent. Default 5."},
    {"correlation", "An id that is carried into logs and to the vendor. At most 128 bytes."},
});

inline constexpr auto kPayloadMembers = std::to_array<Entry>({
    {"subject", "A string of one line."},
    {"body", "The text."},
    {"html", "The text as HTML."},
    {"alt", "The text that a vendor falls back to."},
    {"data", "Any JSON, for the receiver."},
    {"template", "Name of a template, instead of the parts above."},
    {"vars", "An object with the template's variables."},
});

inline constexpr auto kSqlSections = std::to_array<Entry>({
    {"DUPLICATES",
     "`ON CONFLICT (dedup_key) DO NOTHING` makes a rerun harmless, but does not tell whether the content is "
     "the same. "
     "`notifyctl enqueue` with the same key compares it and answers with exit status 4 when it differs; the "
     "fingerprint of a row that was inserted by SQL is computed then. `INSERT OR REPLACE` is refused, "
     "because it would send "
     "the message again under a new id; `INSERT OR IGNORE` would hide the refusal of other mistakes."},
    {"MISTAKES",
     "What a constraint cannot see, the worker does: a payload that is not understood or a channel that is "
     "not configured "
     "is parked with its reason, and nothing is sent."},
});

inline constexpr std::string_view kSqlPython =
    "with sqlite3.connect(\"app.db\", timeout=10) as db:\n"
    "    db.execute(\"PRAGMA synchronous=FULL\")\n"
    "    db.execute(\"INSERT INTO orders VALUES (?, 'paid')\", (order,))\n"
    "    db.execute(\n"
    "        \"INSERT INTO notification_outbox\"\n"
    "        \" (dedup_key, channel, recipient, payload) VALUES (?, ?, ?, ?)\"\n"
    "        \" ON CONFLICT (dedup_key) DO NOTHING\",\n"
    "        (f\"order-paid:{order}\", \"mail\", address,\n"
    "         json.dumps({\"subject\": \"Paid\", \"body\": \"Thank you\"})))";

}  // namespace notify::man_texts
