#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command.hpp"
#include "core/enqueue.hpp"
#include "core/ports/outbox_table.hpp"

namespace notify {

struct EnqueueOptions {
  std::optional<std::string> channel{};
  std::optional<std::string> to{};
  std::optional<std::string> key{};
  std::optional<std::string> kind{};
  std::optional<std::string> category{};
  std::optional<std::string> subject{};
  std::optional<std::string> body{};
  std::optional<std::string> body_file{};
  std::optional<std::string> html_file{};
  std::optional<std::string> alt{};
  std::optional<std::string> data{};
  std::optional<std::string> template_name{};
  std::vector<std::string> vars{};
  std::optional<std::string> not_before{};
  std::optional<std::string> expires{};
  std::optional<int> priority{};
  std::optional<std::string> correlation{};
  bool now = false;
  std::optional<Duration> wait{};

  std::optional<std::string> broadcast{};   // its key
  std::optional<std::string> recipients{};  // a file, "-", or "group:NAME"

  std::optional<std::string> jsonl{};
  std::optional<std::string> rejects{};
  bool atomic = false;
};

Page enqueue_page();
void register_options(OptionSet& set, EnqueueOptions& options);
Result<int> run(const EnqueueOptions& options, Context& context);

// enqueue_bulk.cpp: --jsonl.
Result<int> run_bulk(const EnqueueOptions& options, Context& context);
// enqueue_broadcast.cpp: --broadcast.
Result<int> run_broadcast(const EnqueueOptions& options, Context& context);

// The message that the options describe. Errors name the option.
Result<NewMessage> message_of(const EnqueueOptions& options, Context& context);
// The error of a key that is taken by other content, with both fingerprints for programs.
Error key_conflict(std::string_view key, const InsertResult& inserted);
// A channel that nobody serves is told, and accepted.
Result<void> warn_of_unknown_channel(const std::string& channel, Context& context);

}  // namespace notify
