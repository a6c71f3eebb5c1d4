#include "sys/config_keys.hpp"

#include <array>

namespace notify {
namespace {

constexpr auto kSections = std::to_array<ConfigSection>({
    {"", "Keys at the top of the file, before the first table."},
    {"guard",
     "Outside production, only recipients that are allowed here are written to; other messages become "
     "SKIPPED with the reason `guard`."},
    {"relay", "The first half of a message's way, see notifyctl-relay(1)."},
    {"surge",
     "Holds what exceeds the usual volume by far, before a mistake reaches everybody: the messages stay PENDING, an "
     "alert "
     "`surge` is raised, and `notifyctl relay --allow-surge` lets them go. Off unless set."},
    {"queue", "The embedded transport between relay and worker."},
    {"work", "The second half of a message's way, see notifyctl-work(1)."},
    {"retention", "What is kept for how long."},
    {"quiet_hours.*",
     "When messages of a category wait: `[quiet_hours.advertising]` or "
     "`[quiet_hours.transactional]`. A window whose end is before its beginning spans midnight. "
     "Needs `timezone`."},
    {"channels.*",
     "A channel: a name that messages carry in `--channel`, and the driver that delivers them. "
     "Names are made of a-z, 0-9, `_`, `-` and `.`, at most 64 of them."},
    {"alerts", "Whom to tell when something was given up, is unknown or stands still."},
    {"templates", "Message templates, one file each."},
});

constexpr auto kKeys = std::to_array<ConfigKey>({
    {"", "database", "path", "",
     "The database. A relative path counts from the directory of the configuration file, here and wherever "
     "else a "
     "path is written. `--db` and `NOTIFYCTL_DB` win over it."},
    {"", "environment", "string", "",
     "What these messages are: `production`, or any other word, which switches the recipient guard on. "
     "Required as "
     "soon as a channel is configured."},
    {"", "timezone", "string", "",
     "An IANA time zone, for quiet hours and for times written without a zone. An unknown zone, or a machine "
     "without "
     "zone data, is an error and never means UTC."},
    {"", "ca_bundle", "path", "",
     "The file with the certificate authorities that TLS trusts. Without it `SSL_CERT_FILE` and the usual "
     "places are "
     "looked at."},

    {"guard", "allow", "list of strings", "[]",
     "Patterns of recipients with `*` for anything: `\"+8210000*\"`, `\"*@example.com\"`."},

    {"relay", "batch", "1 to 1000", "50", "Rows that one transaction claims at the most."},
    {"relay", "lease", "duration", "\"15m\"",
     "How long a claim of a relay holds that neither finishes nor is seen dead."},
    {"relay", "confirm_timeout", "duration", "\"5s\"",
     "How long the transport may take to confirm one message. Shorter than `batch_deadline`."},
    {"relay", "batch_deadline", "duration", "\"1m\"", "How long a batch may take altogether. Shorter than `lease`."},
    {"relay", "backoff", "list of durations", "[\"1m\", \"2m\", \"4m\", \"8m\", \"16m\", \"30m\"]",
     "Waiting times after failed publishes; the last one repeats."},
    {"relay", "alert_after", "1 to 1000", "5", "The failed publish of one message that raises an alert."},
    {"relay", "give_up_after", "duration", "\"24h\"",
     "How long after it was due a message that could not be published becomes FAILED. Counted in time, not "
     "in tries."},

    {"surge", "per_run_max", "whole number", "",
     "So many messages may one run of relay hand on. A relay that stays counts them by the hour."},
    {"surge", "hourly_factor", "2 to 1000", "", "So many times the busiest hour of the last 24 may an hour have."},
    {"surge", "hourly_min", "whole number", "100", "Up to so many in an hour are never a surge by `hourly_factor`."},

    {"queue", "lease", "duration", "\"5m\"",
     "How long a worker holds a message that it neither finishes nor is seen dead. Longer than every "
     "channel's "
     "`timeout`, shorter than its `stale_after`."},
    {"queue", "delivery_limit", "1 to 1000", "20",
     "After so many lost leases a message that was never claimed is parked as poison."},
    {"queue", "unaccounted_after", "duration", "\"1h\"",
     "With a broker: a published message that has been in no table for so long is handed on again. The embedded queue "
     "needs no such patience."},

    {"work", "concurrency", "1 to 1024", "64", "Calls in flight in one process, over all channels."},
    {"work", "shutdown_grace", "duration", "\"60s\"",
     "How long a stopping worker waits for its calls. Longer than every channel's `timeout`."},

    {"retention", "keep_keys", "duration or \"forever\"", "\"forever\"",
     "How long the dedup keys of removed messages still stop a second one."},

    {"quiet_hours.*", "relay", "{ from, until }", "",
     "When the relay holds such messages back: `{ from = \"20:40\", until = \"08:00\" }`. Let it begin "
     "earlier than "
     "the worker's, so that what was published can still be sent."},
    {"quiet_hours.*", "worker", "{ from, until }", "", "When the worker does not send such messages."},

    {"channels.*", "driver", "string", "", "`file`, `exec`, `smtp` or `webhook`. Required."},
    {"channels.*", "semantics", "string", "\"at-most-once\"",
     "What a call with an unknown outcome means. `at-most-once`: the message becomes ERROR and is never sent "
     "again by "
     "itself. `at-least-once`: it is sent again with the same idempotency key; only for a receiver that "
     "honours the "
     "key."},
    {"channels.*", "connect_timeout", "duration", "\"5s\"",
     "How long connecting may take. Shorter than `timeout`; the default shrinks with it."},
    {"channels.*", "timeout", "duration", "\"10s\"",
     "How long a call may take from beginning to end. Shorter than the queue's lease and the worker's "
     "`shutdown_grace`. With `smtp` the default is 50 seconds, or less when those leave less."},
    {"channels.*", "stale_after", "duration", "\"10m\"",
     "When a claim whose worker is not heard of counts as of unknown outcome. Longer than the queue's "
     "lease."},
    {"channels.*", "concurrency", "1 to 1024", "16",
     "Calls in flight in one process. With `smtp` these are connections, and the default is 4."},
    {"channels.*", "rate", "rate", "",
     "Calls at the most: `\"50/s\"`, `\"20/10s\"`. Shared by all processes and kept in the database."},
    {"channels.*", "retry", "list of durations", "[\"1s\", \"1s\", \"10m\", \"10m\", \"10m\"]",
     "Waiting times after calls that certainly did nothing; after the last one the message is parked. Empty: "
     "parked at "
     "once."},
    {"channels.*", "per_recipient", "{ limit, per, category }", "",
     "So many messages to one recipient in any span of so much time, for one category or for all: `{ limit = 3, per = "
     "\"1d\", category = \"advertising\" }`. Counted by address (and by id, for messages to one), for all workers "
     "together. What exceeds waits as `recipient-cap` until there is room; what would be worthless by then expires."},
    {"channels.*", "idempotency_window", "duration", "\"24h\"",
     "How long the receiver remembers a key, counted from the first call. Only with `at-least-once`."},
    {"channels.*", "max_text_bytes", "{ encoding, limit }", "",
     "The longest body and alternative text, each in bytes of the encoding that the vendor counts in: `UTF-8`, "
     "`EUC-KR`, `CP949` (EUC-KR with every Hangul syllable), `UCS-2`, or `GSM-7` (septets; characters of the extension "
     "table take two). What does not fit is refused by enqueue, or parked as `text-too-long` or `text-not-encodable`."},

    {"channels.*", "path", "path", "", "The file that one JSON line a message is appended to. Required.", "file"},

    {"channels.*", "command", "list of strings", "",
     "The program and its arguments; no shell is involved. A program without a slash is looked up in `PATH`. "
     "Required.",
     "exec"},

    {"channels.*", "host", "string", "", "The mail server's name or address. Required.", "smtp"},
    {"channels.*", "port", "1 to 65535", "",
     "Its port. Without it 587, 465 with `tls = \"implicit\"`, 25 with `tls = \"none\"`.", "smtp"},
    {"channels.*", "tls", "string", "\"starttls\"",
     "`starttls`: the connection changes to TLS before anything is said, or nothing is sent. `implicit`: TLS from the "
     "first byte. `none`: clear text, to this machine itself only.",
     "smtp"},
    {"channels.*", "allow_cleartext", "true or false", "false",
     "Lets `tls = \"none\"` go to other machines, too. Who can listen there reads messages and passwords.", "smtp"},
    {"channels.*", "username", "string", "",
     "The user to log in as, with `password` or `token`. Without it there is no login. With it nothing is sent to a "
     "server "
     "that offers none.",
     "smtp"},
    {"channels.*", "password", "{ file } or { env }", "", "The user's password.", "smtp"},
    {"channels.*", "token", "{ file } or { env }", "",
     "An OAuth 2 access token in place of a password. A file is read again while the worker runs, so that another "
     "program can keep it fresh.",
     "smtp"},
    {"channels.*", "auth", "string", "",
     "The one mechanism to log in by: `plain`, `login`, `xoauth2` or `oauthbearer`. Without it whatever the server "
     "offers "
     "of those that go with the secret.",
     "smtp"},
    {"channels.*", "from", "string", "", "The sender: `\"Shop <shop@example.com>\"`. Required.", "smtp"},
    {"channels.*", "reply_to", "string", "", "Where answers go, if not to `from`.", "smtp"},
    {"channels.*", "return_path", "string", "",
     "The envelope's sender, which bounces go to: `\"bounce+{id}@example.com\"`, where `{id}` stands for the message "
     "id. "
     "Without it the address of `from`.",
     "smtp"},
    {"channels.*", "message_id_domain", "string", "",
     "The domain in Message-ID: `<MESSAGE-ID@domain>`. Without it that of `from`.", "smtp"},
    {"channels.*", "helo", "string", "", "The name to greet with (EHLO). Without it this machine's.", "smtp"},
    {"channels.*", "headers", "table", "",
     "Header fields to add to every mail: `headers = { X-Tenant = \"shop\" }`. Those that notifyctl writes itself are "
     "refused.",
     "smtp"},
    {"channels.*", "list_unsubscribe", "string", "",
     "An https URL for messages of the category `advertising`, announced as one-click (RFC 8058). `{id}`, `{to}`, "
     "`{kind}`, `{category}` and `{data.NAME}` stand for what the message has.",
     "smtp"},
    {"channels.*", "max_message_bytes", "1024 to 52428800", "10485760",
     "The largest mail, attachments and encoding included. Larger ones are parked without a call.", "smtp"},

    {"channels.*", "url", "string, { file } or { env }", "",
     "Where to post. Without it the recipient is the URL. A URL that is itself a secret belongs into a file: "
     "`{ file = \"/etc/notifyctl/hook.secret\" }`.",
     "webhook"},
    {"channels.*", "headers", "table", "",
     "Headers to add. A value is a string, `{ file }` or `{ env }`. A plain value of a header whose name "
     "sounds like a "
     "credential needs a configuration file that only its owner may read.",
     "webhook"},
    {"channels.*", "secret", "{ file }, { env } or a list of them", "",
     "Signing key of the Standard Webhooks headers, with or without `whsec_`. Several, newest first, all "
     "sign, for the "
     "time in which a key is changed.",
     "webhook"},
    {"channels.*", "http_version", "\"1.1\" or \"2\"", "\"1.1\"", "HTTP/2 is spoken over TLS only.", "webhook"},
    {"channels.*", "not_sent", "list of statuses", "[]",
     "Statuses from 400 to 599 by which this receiver promises that nothing was done, so that the call may "
     "be repeated.",
     "webhook"},
    {"channels.*", "allow_private", "true or false", "false",
     "Whether a URL that came as a recipient may lead to loopback, private and link-local addresses. The "
     "configured "
     "`url` may always.",
     "webhook"},

    {"alerts", "exec", "list of strings", "[]",
     "A program and its arguments (no shell). `notifyctl reconcile` runs it once when alerts are due and gives it one "
     "JSON object a line on its standard input. When it does not exit with 0, they are told again at the next run."},
    {"alerts", "timeout", "duration", "\"30s\"", "How long that program may take."},
    {"alerts", "channel", "string", "",
     "A channel that carries alerts as messages of the kind `notifyctl.alert`; needs `to`. Trouble of this channel "
     "itself is told by `exec` and `notifyctl status` only."},
    {"alerts", "to", "string", "", "The recipient of alerts on that channel."},
    {"alerts", "repeat_after", "duration", "\"1h\"",
     "An alert that is still open is told again after this time. One about something that happened and is over closes "
     "when it has not happened again for as long."},
    {"alerts", "parked_growth", "number", "100",
     "An alert when more messages than this were parked between two runs of `notifyctl reconcile`."},
    {"alerts", "backlog_age", "duration", "\"1h\"", "An alert when the oldest unsent message is due for longer."},
    {"alerts", "run_missing", "duration", "\"1h\"",
     "An alert when `relay` or `work` has something to do and has not succeeded for longer."},

    {"templates", "directory", "path", "", "The directory of the templates: `NAME.toml` is the template NAME."},
    {"templates", "default_locale", "string", "",
     "The locale of messages whose variables name none, like `ko` or `en-GB`."},
});

}  // namespace

std::span<const ConfigSection> config_sections() noexcept { return kSections; }
std::span<const ConfigKey> config_keys() noexcept { return kKeys; }

}  // namespace notify
