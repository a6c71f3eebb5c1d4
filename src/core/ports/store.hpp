#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/ports/broadcast_table.hpp"
#include "core/ports/inbox_table.hpp"
#include "core/ports/outbox_table.hpp"
#include "core/ports/queue_table.hpp"
#include "core/ports/receipt_table.hpp"
#include "core/ports/recipient_table.hpp"
#include "core/ports/side_tables.hpp"
#include "core/ports/upkeep_table.hpp"

namespace notify {

// The database as core sees it. One instance belongs to one thread; processes and threads meet in the file.
//
// Every writing operation of the tables must be called inside write(); reads may be called anywhere. Numbers
// of changed rows are returned and must be looked at: a lost claim shows as 0.
class Store {
 public:
  virtual ~Store() = default;

  // Runs `body` in one BEGIN IMMEDIATE … COMMIT. When this returns a value, the changes are durable
  // (synchronous=FULL). When the body fails, or anything before the commit does, nothing has changed. When
  // the database is busy the whole body may be run again from its start, so it must not have effects of its
  // own beyond variables that it sets anew. Not re-entrant.
  virtual Result<void> write(const std::function<Result<void>()>& body) = 0;

  virtual OutboxTable& outbox() = 0;
  virtual QueueTable& queue() = 0;
  virtual InboxTable& inbox() = 0;
  virtual ParkedTable& parked() = 0;
  virtual AlertTable& alerts() = 0;
  virtual LaneTable& lanes() = 0;
  virtual RecipientTable& recipients() = 0;
  virtual HistoryTable& history() = 0;
  virtual RunTable& runs() = 0;
  virtual ReceiptTable& receipts() = 0;
  virtual BroadcastTable& broadcasts() = 0;
  virtual UpkeepTable& upkeep() = 0;

  // Makes the number of a run, or a mark of it, durable outside of the database, so that an older copy of the database,
  // restored from a backup, is known for what it is: write() then refuses it with kConfig. Called outside of write(), before
  // the run's first effect and again while it has effects.
  virtual Result<void> fence(std::int64_t number) = 0;

  // True when another connection has committed since the last call on this instance (PRAGMA data_version).
  virtual Result<bool> changed_elsewhere() = 0;
};

}  // namespace notify
