#pragma once

// A store in a file of its own, for the contract tests.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/fingerprint.hpp"
#include "store/open.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite_store.hpp"
#include "support/fakes.hpp"

namespace notify::test {

// Removed with everything in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "notify-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<SqliteStore> open_or_die(const OpenOptions& options) {
  auto store = open_store(options);
  if (!store) throw std::runtime_error(store.error().message);
  return std::move(*store);
}

inline OpenOptions creating(const std::string& path) {
  OpenOptions options;
  options.path = path;
  options.create = true;
  return options;
}

inline NewMessage message(std::string key, std::string channel = "mail", std::string kind = "order", int priority = 5) {
  NewMessage m;
  m.dedup_key = std::move(key);
  m.channel = std::move(channel);
  m.recipient = "someone@example.com";
  m.kind = std::move(kind);
  m.payload = R"({"subject":"Paid","body":"Thank you"})";
  m.priority = priority;
  if (!m.dedup_key.empty()) m.fingerprint = *fingerprint(m.channel, m.recipient, m.kind, m.category, m.payload);
  return m;
}

class StoreTest : public ::testing::Test {
 protected:
  // Runs `body` in a write transaction; its result comes back. Fails the test when the transaction fails.
  template <class Body>
  auto written(Body body) {
    std::optional<typename decltype(body())::value_type> out;
    const Result<void> done = store->write([&]() -> Result<void> {
      auto result = body();
      if (!result) return fail(result.error());
      out = std::move(*result);
      return {};
    });
    if (!done) throw std::runtime_error(done.error().message);
    return std::move(*out);
  }
  void write(const std::function<Result<void>()>& body) {
    const Result<void> done = store->write(body);
    if (!done) throw std::runtime_error(done.error().message);
  }

  InsertResult insert(const NewMessage& m) {
    return written([&] { return store->outbox().insert(m, now); });
  }
  std::vector<Candidate> candidates(int limit = 100) {
    auto found = store->outbox().candidates(now, limit, false);
    if (!found) throw std::runtime_error(found.error().message);
    return std::move(*found);
  }
  bool claim(std::int64_t id, std::int64_t token = 11, std::int64_t holder = 1) {
    return written([&] { return store->outbox().claim(id, {token, holder, now, now + 15min}); });
  }
  // Claimed by run 1, put into the queue and confirmed: PUBLISHED.
  void publish(std::int64_t id) {
    ASSERT_TRUE(claim(id));
    ASSERT_TRUE(written([&] { return store->queue().put(id, 1, now); }));
    ASSERT_TRUE(written([&] { return store->outbox().confirm(id, 11, now); }));
  }
  OutboxState state(std::int64_t id) { return store->outbox().state(id)->value(); }

  void sql(const std::string& text) {
    const Result<void> done = store->database().execute(text);
    if (!done) throw std::runtime_error(done.error().message);
  }
  std::string sql_error(const std::string& text) {
    const Result<void> done = store->database().execute(text);
    return done ? std::string() : done.error().message;
  }
  std::int64_t number(const std::string& text) {
    const Result<std::int64_t> value = store->database().integer(text);
    if (!value) throw std::runtime_error(value.error().message);
    return *value;
  }
  std::string text(const std::string& query) {
    const Result<std::string> value = store->database().text(query);
    if (!value) throw std::runtime_error(value.error().message);
    return *value;
  }

  ScratchDirectory directory;
  std::string path = directory / "notify.db";
  Instant now = kSomeTime;
  std::unique_ptr<SqliteStore> store = open_or_die(creating(path));
};

}  // namespace notify::test
