#pragma once

#include "core/message.hpp"
#include "store/sqlite/statement.hpp"

namespace notify {

// The columns of an outbox row that make an envelope, in the order in which read_envelope expects them.
#define NOTIFY_ENVELOPE_COLUMNS                                                                              \
  "o.id, o.dedup_key, o.channel, o.recipient, o.kind, o.category, o.expires_at, o.priority, o.correlation, " \
  "o.created_at"
inline constexpr int kEnvelopeColumns = 10;

// Reads the columns from `first` on; message id and payload are the caller's.
inline Envelope read_envelope(const sqlite::Use& row, int first) {
  Envelope envelope;
  envelope.outbox_id = row.integer(first);
  envelope.dedup_key = row.text(first + 1);
  envelope.channel = row.text(first + 2);
  envelope.recipient = row.text(first + 3);
  envelope.kind = row.text(first + 4);
  envelope.category = row.text(first + 5);
  envelope.expires = row.maybe_instant(first + 6);
  envelope.priority = row.small(first + 7);
  envelope.correlation = row.text(first + 8);
  envelope.enqueued_at = row.instant(first + 9);
  return envelope;
}

}  // namespace notify
