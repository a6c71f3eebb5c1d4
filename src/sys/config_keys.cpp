#include "sys/config_keys.hpp"

#include <array>

namespace notify {
namespace {

constexpr auto kConfigSections = std::to_array<ConfigSection>({
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
     "Names are made of a-z, 0-9, `_`, `-` and `.`, at most 64 of them. A secret is written as `{ file = \"/path\" }` "
     "(which "
     "only its owner may read), as `{ env = \"NAME\" }`, or as `{ command = [\"pass\", \"show\", \"x\"] }`: a program "
     "that "
     "prints it within 10 seconds, run without a shell whenever a command needs the channel."},
    {"alerts", "Whom to tell when something was given up, is unknown or stands still."},
    {"templates", "Message templates, one file each."},
});

constexpr auto kConfigKeys = std::to_array<ConfigKey>({
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
     "Patterns of recipients with `*` for anything: `\"+8210000*\"`, `\"*@example.com\"`. E-mail addresses are "
     "compared in "
     "lower case, telephone numbers by their digits, however either is written."},

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
     "So many messages may one run of relay hand on; then nothing goes until `--allow-surge`. A relay that stays "
     "counts "
     "by the hour, and goes on when the hour is over."},
    {"surge", "hourly_factor", "2 to 1000", "",
     "So many times the busiest hour of the last 24 may an hour have; the rest waits until it is over."},
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

    {"channels.*", "driver", "string", "",
     "`apns`, `exec`, `fcm`, `file`, `http`, `ses`, `smtp`, `webhook` or `webpush`. Required."},
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
     "Calls in flight in one process, at the most: after a 429 (or many a 503) there are half as many, and more again "
     "while "
     "answers stay quick. With `smtp` these are connections, and the default is 4."},
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
    {"channels.*", "password", "{ file }, { env } or { command }", "", "The user's password.", "smtp"},
    {"channels.*", "token", "{ file }, { env } or { command }", "",
     "An OAuth 2 access token in place of a password. A file is read again while the worker runs, so that another "
     "program can keep it fresh; a command is asked once, at the start.",
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

    {"channels.*", "url", "string, { file }, { env } or { command }", "",
     "Where to post. Without it the recipient is the URL. A URL that is itself a secret belongs into a file: "
     "`{ file = \"/etc/notifyctl/hook.secret\" }`.",
     "webhook"},
    {"channels.*", "headers", "table", "",
     "Headers to add. A value is a string, `{ file }`, `{ env }` or `{ command }`. A plain value of a header whose "
     "name "
     "sounds like a "
     "credential needs a configuration file that only its owner may read.",
     "webhook"},
    {"channels.*", "secret", "{ file }, { env }, { command } or a list of them", "",
     "Signing key of the Standard Webhooks headers: `whsec_` and 24 to 64 bytes in base64, `whsk_` and a private "
     "Ed25519 key, "
     "or any other text. Several, newest first, all sign, for the time in which a key is changed.",
     "webhook"},
    {"channels.*", "http_version", "\"1.1\" or \"2\"", "\"1.1\"",
     "HTTP/2 is spoken over TLS only, on a few connections. A server that has not got it is called by HTTP/1.1.",
     "webhook"},
    {"channels.*", "not_sent", "list of statuses", "[]",
     "Statuses from 400 to 599 by which this receiver promises that nothing was done, so that the call may "
     "be repeated.",
     "webhook"},
    {"channels.*", "allow_private", "true or false", "false",
     "Whether a URL that came as a recipient may lead to loopback, private and link-local addresses. The "
     "configured "
     "`url` may always.",
     "webhook"},
    {"channels.*", "idempotency_key", "\"plain\", \"quoted\" or \"none\"", "\"plain\"",
     "How the header Idempotency-Key is written: the message id as it is, as a string of RFC 8941 in quotes (which the "
     "header's draft asks for), or not at all.",
     "webhook"},

    {"channels.*", "key", "{ file }, { env } or { command }", "",
     "The signing key that Apple gives as a .p8 file. Required.", "apns"},
    {"channels.*", "key_id", "string", "", "The key's id, 10 capital letters and digits. Required.", "apns"},
    {"channels.*", "team_id", "string", "", "The team's id, 10 capital letters and digits. Required.", "apns"},
    {"channels.*", "topic", "string", "",
     "The application's bundle id, with the suffix that some push types have (`.voip`). Required.", "apns"},
    {"channels.*", "environment", "\"production\" or \"sandbox\"", "\"production\"",
     "Where the device tokens come from: the App Store and TestFlight, or builds from Xcode.", "apns"},
    {"channels.*", "url", "string", "Apple's",
     "Another server than the environment's: https://HOST or https://HOST:PORT.", "apns"},
    {"channels.*", "push_type", "string", "\"alert\"",
     "`alert`, `background`, `location`, `voip`, `complication`, `fileprovider`, `mdm`, `liveactivity`, `pushtotalk`, "
     "`widgets` or `controls`. A background push carries data only.",
     "apns"},
    {"channels.*", "priority", "10, 5 or 1", "10", "10: at once; 5 and 1 spare the battery. 5 for background pushes.",
     "apns"},
    {"channels.*", "ttl", "duration", "",
     "How long Apple keeps trying to reach a device, for messages that do not expire themselves. `0s`: once.", "apns"},
    {"channels.*", "sound", "string", "", "The sound of alerts, as `default`.", "apns"},

    {"channels.*", "service_account", "{ file }, { env } or { command }", "",
     "The key of a service account, as the JSON file that Google gives. Required.", "fcm"},
    {"channels.*", "project", "string", "the key's", "The id of the Firebase project.", "fcm"},
    {"channels.*", "url", "string", "Google's", "Another server: https://HOST or https://HOST:PORT.", "fcm"},
    {"channels.*", "target", "string", "\"token\"",
     "What the recipients are: `token` (registration tokens), `fid` (installation ids), `topic` or `condition`.",
     "fcm"},
    {"channels.*", "priority", "\"high\" or \"normal\"", "Google's", "The priority on Android.", "fcm"},
    {"channels.*", "ttl", "duration", "Google's",
     "How long Google keeps trying to reach a device, for messages that do not expire themselves; at most 28 days.",
     "fcm"},
    {"channels.*", "validate_only", "true or false", "false", "Google checks every message and delivers none.", "fcm"},

    {"channels.*", "key", "{ file }, { env } or { command }", "",
     "The private VAPID key: PEM, or 32 bytes in base64url as web push tools print it. Required.", "webpush"},
    {"channels.*", "subject", "string", "",
     "Whom a push service may write to about these messages: `mailto:…` or `https://…`. Required.", "webpush"},
    {"channels.*", "ttl", "duration", "\"24h\"",
     "How long push services keep messages that do not expire themselves; at most 28 days.", "webpush"},
    {"channels.*", "urgency", "string", "\"normal\"", "`very-low`, `low`, `normal` or `high`.", "webpush"},
    {"channels.*", "allow_hosts", "list of strings", "[]",
     "Patterns of the push services that may be posted to, as `\"*.push.apple.com\"`. Empty: every public host.",
     "webpush"},
    {"channels.*", "allow_private", "true or false", "false",
     "Whether endpoints may lead to loopback, private and link-local addresses.", "webpush"},

    {"channels.*", "region", "string", "", "The AWS region, as `ap-northeast-2`. Required.", "ses"},
    {"channels.*", "access_key_id", "string", "", "The id of the access key. Required.", "ses"},
    {"channels.*", "secret_access_key", "{ file }, { env } or { command }", "", "The access key itself. Required.",
     "ses"},
    {"channels.*", "session_token", "{ file }, { env } or { command }", "", "Of temporary credentials.", "ses"},
    {"channels.*", "from", "string", "", "The sender, an address that SES has verified. Required.", "ses"},
    {"channels.*", "reply_to", "list of strings", "[]", "Where answers go.", "ses"},
    {"channels.*", "configuration_set", "string", "", "The SES configuration set, for its events.", "ses"},
    {"channels.*", "sns_topic", "string", "",
     "The ARN of the SNS topic whose posts `reconcile --receipts - --format ses` believes. Without it all are.", "ses"},
    {"channels.*", "sns_certificate", "path", "",
     "The certificate that SNS signs with (PEM, from the post's `SigningCertURL`); with `sns_topic`.", "ses"},
    {"channels.*", "url", "string", "the region's", "Another server: https://HOST or https://HOST:PORT.", "ses"},

    {"channels.*", "recipe", "name or path", "",
     "The vendor: a built-in recipe (`notifyctl channel recipes` lists them), or the path of a file of your own, see "
     "notifyctl-recipes(5). Its settings are keys of the channel, beside this one. Required.",
     "http"},
    {"channels.*", "batch", "number", "1",
     "How many messages may share one request, where the recipe has `[batch]`; no more than `concurrency`. Only "
     "messages "
     "that are ready at the same moment do: none waits for another. One lost answer then leaves all of them without a "
     "result, so leave it at 1 unless the vendor's limit of requests is what holds you up.",
     "http"},

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

std::span<const ConfigSection> config_sections() noexcept { return kConfigSections; }
std::span<const ConfigKey> config_keys() noexcept { return kConfigKeys; }

}  // namespace notify
