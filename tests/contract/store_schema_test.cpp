// The schema itself: every statement prepares and none scans, the state machines are those of core, illegal rows are
// refused whoever writes them, and every older schema can be migrated.

#include <gmock/gmock.h>

#include <cctype>
#include <fstream>
#include <iomanip>
#include <map>
#include <regex>
#include <sstream>

#include "contract/store_support.hpp"
#include "store/migrations.hpp"

namespace notify::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- all SQL text of the store ----------------------------------------------------------------------------

// The string literals of a C++ file, adjacent ones joined as the compiler joins them, macros that stand for strings
// included. Enough of a lexer for src/store.
class Literals {
 public:
  explicit Literals(std::string text) : text_(std::move(text)) {}

  std::vector<std::string> read(std::map<std::string, std::string>& macros) {
    std::vector<std::string> out;
    std::optional<std::string> joined;
    const auto flush = [&] {
      if (joined) out.push_back(*joined);
      joined.reset();
    };
    while (at_ < text_.size()) {
      if (skip_blank()) continue;
      if (text_.compare(at_, 8, "#define ") == 0) {
        flush();
        define(macros);
      } else if (const std::optional<std::string> literal = string_literal()) {
        joined = joined.value_or("") + *literal;
      } else if (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_') {
        const auto known = macros.find(word());
        if (known != macros.end()) {
          joined = joined.value_or("") + known->second;
        } else {
          flush();
        }
      } else {
        flush();
        ++at_;
      }
    }
    flush();
    return out;
  }

 private:
  bool skip_blank() {
    if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\\') return ++at_ > 0;
    if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return true;
    }
    return false;
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<std::string> string_literal() {
    if (text_.compare(at_, 6, "R\"sql(") == 0) {
      const std::size_t begin = at_ + 6;
      const std::size_t end = text_.find(")sql\"", begin);
      at_ = end + 5;
      return text_.substr(begin, end - begin);
    }
    if (text_[at_] == '\'') {  // a character, not a string
      at_ = text_.find('\'', at_ + 1) + 1;
      return std::nullopt;
    }
    if (text_[at_] != '"') return std::nullopt;
    std::string value;
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      value += text_[at_];
    }
    ++at_;
    return value;
  }

  void define(std::map<std::string, std::string>& macros) {
    at_ += 8;
    const std::string name = word();
    std::size_t end = at_;
    do {
      end = text_.find('\n', end + 1);
    } while (text_[end - 1] == '\\');
    std::string value;
    for (const std::string& part : Literals(text_.substr(at_, end - at_)).read(macros)) value += part;
    if (!value.empty()) macros[name] = value;
    at_ = end;
  }

  std::string text_;
  std::size_t at_ = 0;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> all_statements() {
  const fs::path store = fs::path(NOTIFYCTL_SOURCE_DIR) / "src/store";
  std::vector<fs::path> files{store / "rows.hpp"};
  for (const auto& entry : fs::recursive_directory_iterator(store))
    if (entry.path().extension() == ".cpp") files.push_back(entry.path());
  std::map<std::string, std::string> macros;
  std::vector<std::string> statements;
  static const std::regex kStatement(R"(^\s*(SELECT|INSERT|UPDATE|DELETE|PRAGMA|VACUUM|BEGIN|COMMIT|ROLLBACK)\b)");
  for (const fs::path& file : files)
    for (std::string& literal : Literals(contents(file)).read(macros))
      if (std::regex_search(literal, kStatement) && literal.find("_check(") == std::string::npos)
        statements.push_back(std::move(literal));
  return statements;
}

class SchemaTest : public StoreTest {
 protected:
  std::vector<std::string> plan(const std::string& statement) {
    auto query = store->database().use_once("EXPLAIN QUERY PLAN " + statement);
    if (!query) throw std::runtime_error(query.error().message);
    std::vector<std::string> steps;
    while (*query->row()) steps.push_back(query->text(3));
    return steps;
  }

  void expect_no_scan() {
    int asked = 0;
    for (const std::string& statement : all_statements()) {
      if (statement.find("may scan:") != std::string::npos) continue;
      static const std::regex kPlanned(R"(^\s*(SELECT|INSERT|UPDATE|DELETE)\b)");
      if (!std::regex_search(statement, kPlanned)) continue;
      ++asked;
      for (const std::string& step : plan(statement)) {
        if (step.find("CONSTANT ROW") != std::string::npos) continue;
        EXPECT_THAT(step, Not(::testing::StartsWith("SCAN"))) << statement;
        EXPECT_THAT(step, Not(HasSubstr("TEMP B-TREE"))) << statement;
        EXPECT_THAT(step, Not(HasSubstr("AUTOMATIC"))) << statement;
      }
    }
    EXPECT_GT(asked, 60);
  }
};

TEST_F(SchemaTest, EveryStatementPrepares) {
  const std::vector<std::string> statements = all_statements();
  EXPECT_GT(statements.size(), 80U);
  for (const std::string& statement : statements) {
    const auto use = store->database().use_once(statement);
    EXPECT_TRUE(use.has_value()) << statement << "\n" << (use ? "" : use.error().message);
  }
}

TEST_F(SchemaTest, NoHotStatementScansOrSorts) { expect_no_scan(); }

// Statistics that an application gathers in its own file must not change that.
TEST_F(SchemaTest, NorAfterAnalyze) {
  write([&]() -> Result<void> {
    for (int i = 0; i < 3000; ++i) {
      NewMessage m = message("k" + std::to_string(i), i % 3 == 0 ? "mail" : "sms", "kind" + std::to_string(i % 7));
      TRY_ASSIGN(const InsertResult row, store->outbox().insert(m, now));
      if (i % 10 == 0) continue;
      TRY(store->outbox().claim(row.outbox_id, {1, 1, now, now + 1h}));
      TRY(store->queue().put(row.outbox_id, 1, now));
      TRY(store->outbox().confirm(row.outbox_id, 1, now));
      if (i % 10 > 5) {
        TRY(store->inbox().claim({row.message_id, row.outbox_id, "mail", 5, 1, now}));
        TRY(store->inbox().settle({row.message_id, 5, InboxState::kSent, {}, {}, {}, 0, now}));
        TRY(store->queue().remove_any(row.message_id));
      }
    }
    return {};
  });
  sql("ANALYZE");
  expect_no_scan();
}

// An ephemeral table per row changed (IN lists, two-pass updates) costs more than the change itself.
TEST_F(SchemaTest, NoHotStatementMakesATable) {
  static const std::regex kWrites(R"(^\s*(INSERT|UPDATE|DELETE)\b)");
  for (const std::string& statement : all_statements()) {
    if (!std::regex_search(statement, kWrites) || statement.find("may collect:") != std::string::npos) continue;
    auto query = store->database().use_once("EXPLAIN " + statement);
    ASSERT_TRUE(query.has_value()) << statement;
    while (*query->row()) EXPECT_NE(query->view(1), "OpenEphemeral") << statement;
  }
}

TEST_F(SchemaTest, CandidatesComeFromThePartialIndex) {
  int found = 0;
  for (const std::string& statement : all_statements()) {
    if (statement.find("ready_at <= ?4") == std::string::npos) continue;
    ++found;
    const bool queue = statement.find("notification_queue") != std::string::npos;
    EXPECT_THAT(plan(statement).front(),
                HasSubstr(queue ? "notification_queue_waiting (channel=? AND priority=? AND kind=? AND ready_at<?)"
                                : "notification_outbox_pending (channel=? AND priority=? AND kind=? AND ready_at<?)"));
  }
  EXPECT_EQ(found, 3);
}

// --- the state machines -----------------------------------------------------------------------------------

// How a row gets into a state, by steps that are legal.
std::vector<OutboxState> way_to(OutboxState state) {
  switch (state) {
    case OutboxState::kPending: return {};
    case OutboxState::kPublished: return {OutboxState::kPublishing, OutboxState::kPublished};
    default: return {state};
  }
}

std::string update_outbox(OutboxState to) {
  return "UPDATE notification_outbox SET status = '" + std::string(name(to)) + "', " +
         (to == OutboxState::kPublishing ? "claim_token = 1, claimed_by = 1, claimed_until = 1"
                                         : "claim_token = NULL, claimed_by = NULL, claimed_until = NULL");
}

TEST_F(SchemaTest, TheOutboxKnowsTheLegalTransitions) {
  for (const OutboxState from : kOutboxStates) {
    for (const OutboxState to : kOutboxStates) {
      bool legal = from == to;
      for (const OutboxTransition& t : outbox_transitions()) legal = legal || (t.from == from && t.to == to);
      const std::string where = " WHERE id = " + std::to_string(insert(message({})).outbox_id);
      for (const OutboxState step : way_to(from)) sql(update_outbox(step) + where);
      const std::string error = sql_error(update_outbox(to) + where);
      EXPECT_EQ(error.empty(), legal) << name(from) << " to " << name(to) << ": " << error;
    }
  }
}

std::string update_inbox(InboxState to) {
  if (to == InboxState::kNone) return "DELETE FROM notification_inbox";
  return "UPDATE notification_inbox SET status = '" + std::string(name(to)) +
         "', settled_at = " + (to == InboxState::kSending ? "NULL" : "1");
}

std::string insert_inbox(const std::string& id, InboxState state) {
  return "INSERT INTO notification_inbox (message_id, channel, status, claim_token, holder, claimed_at, first_call_at,"
         " settled_at, created_at, updated_at) VALUES ('" +
         id + "', 'mail', '" + std::string(name(state)) + "', 1, 1, 1, 1, " +
         (state == InboxState::kSending ? "NULL" : "1") + ", 1, 1)";
}

TEST_F(SchemaTest, TheInboxKnowsTheLegalTransitions) {
  for (const InboxState from : kInboxStates) {
    for (const InboxState to : kInboxStates) {
      if (from == InboxState::kNone && to == InboxState::kNone) continue;
      bool legal = from == to;
      for (const InboxTransition& t : inbox_transitions()) legal = legal || (t.from == from && t.to == to);
      const std::string id = std::string(name(from)) + "-" + std::string(name(to));
      const std::string where = " WHERE message_id = '" + id + "'";
      std::string error;
      if (from == InboxState::kNone) {
        error = sql_error(insert_inbox(id, to));
      } else {
        sql(insert_inbox(id, from == InboxState::kSkipped ? from : InboxState::kSending));
        if (from != InboxState::kSkipped && from != InboxState::kSending) sql(update_inbox(from) + where);
        error = sql_error(update_inbox(to) + where);
      }
      EXPECT_EQ(error.empty(), legal) << id << ": " << error;
    }
  }
}

TEST_F(SchemaTest, AClaimOfAnUnknownCallIsNeverGivenBack) {
  sql(insert_inbox("m", InboxState::kSending));
  sql("UPDATE notification_inbox SET unknown_before = 1, holder = 0, resume_at = 5");
  EXPECT_THAT(sql_error("DELETE FROM notification_inbox"), HasSubstr("never given back"));
}

TEST_F(SchemaTest, StatesAndTheirColumnsBelongTogether) {
  insert(message("k1"));
  EXPECT_NE(sql_error("UPDATE notification_outbox SET status = 'PUBLISHING'"), "");
  EXPECT_NE(sql_error("UPDATE notification_outbox SET claim_token = 5"), "");
  EXPECT_NE(sql_error("UPDATE notification_outbox SET status = 'LOST'"), "");
  sql(insert_inbox("m", InboxState::kSending));
  EXPECT_NE(sql_error("UPDATE notification_inbox SET holder = 0"), "") << "nobody's, and no time to go on";
  EXPECT_NE(sql_error("UPDATE notification_inbox SET status = 'SENT'"), "") << "settled, but when?";
  EXPECT_NE(
      sql_error("INSERT INTO notification_queue (message_id, outbox_id, channel, kind, priority, ready_at, due_at,"
                " queued_at, lease_token) VALUES ('q', 1, 'mail', '', 5, 1, 1, 1, 7)"),
      "");
}

TEST_F(SchemaTest, WhatIdentifiesAMessageNeverChanges) {
  insert(message("k1"));
  for (const char* change :
       {"id = 99", "dedup_key = 'k2'", "dedup_key = NULL", "channel = 'sms'", "created_at = 1795958769001"})
    EXPECT_THAT(sql_error(std::string("UPDATE notification_outbox SET ") + change), HasSubstr("never change"))
        << change;
}

// While it waits, an application may still correct its row; what was handed on must stay what was sent.
TEST_F(SchemaTest, ContentChangesOnlyWhilePending) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  const std::vector<std::string> changes{"payload = '{\"body\":\"other\"}'", "recipient = 'other@example.com'",
                                         "kind = 'OTHER'", "category = 'advertising'"};
  for (const std::string& change : changes) EXPECT_EQ(sql_error("UPDATE notification_outbox SET " + change), "");
  sql("UPDATE notification_outbox SET payload = '{}', recipient = 'a', kind = '', category = 'transactional'");
  publish(id);
  for (const std::string& change : changes)
    EXPECT_THAT(sql_error("UPDATE notification_outbox SET " + change), HasSubstr("only while PENDING")) << change;
  EXPECT_EQ(sql_error("UPDATE notification_outbox SET recipient = recipient, reason = 'x'"), "");
  sql("INSERT INTO notification_meta VALUES ('mending', '1')");
  for (const std::string& change : changes) EXPECT_EQ(sql_error("UPDATE notification_outbox SET " + change), "");
}

TEST_F(SchemaTest, OnlyPruneRemovesRows) {
  const std::int64_t id = insert(message("k1")).outbox_id;
  EXPECT_THAT(sql_error("DELETE FROM notification_outbox"), HasSubstr("never deleted"));
  publish(id);
  EXPECT_THAT(sql_error("DELETE FROM notification_outbox"), HasSubstr("never deleted"));
  insert(message("waiting"));
  sql("INSERT INTO notification_meta VALUES ('pruning', '1')");
  EXPECT_THAT(sql_error("DELETE FROM notification_outbox WHERE status = 'PENDING'"), HasSubstr("never deleted"));
  EXPECT_EQ(sql_error("DELETE FROM notification_outbox WHERE status = 'PUBLISHED'"), "");
}

// --- rows of other programs -------------------------------------------------------------------------------

struct BadRow {
  const char* column;
  const char* value;
};

// For each column what it must not hold.
constexpr BadRow kBadRows[] = {
    {"channel", "NULL"},
    {"channel", "''"},
    {"channel", "'Mail'"},
    {"channel", "'-mail'"},
    {"channel", "'ma il'"},
    {"channel", "'mäil'"},
    {"channel", "'mail' || char(10)"},
    {"channel", "'mail' || char(0) || 'x'"},
    {"channel", "x'6d61696c'"},
    {"channel", "printf('%065d', 1)"},
    {"recipient", "NULL"},
    {"recipient", "''"},
    {"recipient", "x'61'"},
    {"recipient", "'a' || char(13, 10) || 'Bcc: e@evil.test'"},
    {"recipient", "'a' || char(0)"},
    {"recipient", "'a' || char(127)"},
    {"recipient", "'a' || char(133)"},
    {"recipient", "'a' || char(8232)"},
    {"recipient", "printf('%02049d', 1)"},
    {"kind", "NULL"},
    {"kind", "'a' || char(9)"},
    {"kind", "'a' || char(0)"},
    {"kind", "x'61'"},
    {"kind", "printf('%0129d', 1)"},
    {"correlation", "NULL"},
    {"correlation", "'a' || char(13)"},
    {"correlation", "printf('%0129d', 1)"},
    {"category", "NULL"},
    {"category", "'spam'"},
    {"payload", "NULL"},
    {"payload", "''"},
    {"payload", "'not json'"},
    {"payload", "'[1]'"},
    {"payload", "'\"text\"'"},
    {"payload", "'{\"a\":1'"},
    {"payload", "x'7b7d'"},
    {"payload", "'{\"body\":\"' || printf('%01048576d', 1) || '\"}'"},
    {"dedup_key", "''"},
    {"dedup_key", "x'61'"},
    {"dedup_key", "'a' || char(0)"},
    {"dedup_key", "printf('%0513d', 1)"},
    {"priority", "NULL"},
    {"priority", "-1"},
    {"priority", "10"},
    {"priority", "5.5"},
    {"priority", "'high'"},
    {"not_before", "'tomorrow'"},
    {"not_before", "1795958769"},
    {"not_before", "1795958769000000"},
    {"not_before", "1795958769000.5"},
    {"expires_at", "1795958769"},
    {"expires_at", "'2026-11-29'"},
    {"created_at", "NULL"},
    {"created_at", "1795958769"},
    {"status", "'PUBLISHED'"},
    {"status", "'SENDING'"},
    {"attempts", "1"},
    {"id", "1"},
};

// Refused in new rows, and by enqueue: names that hide or turn text, text that is no UTF-8, a message without words.
constexpr BadRow kBadNewRows[] = {
    {"recipient", "'a' || char(8238) || 'b'"},
    {"recipient", "char(65279) || 'a'"},
    {"recipient", "'a' || char(8294)"},
    {"recipient", "'a' || char(1564)"},
    {"recipient", "'a' || char(8207)"},
    {"recipient", "CAST(x'61FF62' AS TEXT)"},
    {"recipient", "CAST(x'61C328' AS TEXT)"},
    {"recipient", "CAST(x'61EDA080' AS TEXT)"},
    {"kind", "'K' || char(8234)"},
    {"kind", "CAST(x'4BC3' AS TEXT)"},
    {"payload", "'{}'"},
    {"payload", "'{\"alt\":\"x\"}'"},
};

std::string insert_row(const std::string& how, const BadRow& bad) {
  std::map<std::string, std::string> columns{
      {"channel", "'mail'"}, {"recipient", "'a@example.com'"}, {"payload", "'{\"body\":\"x\"}'"}};
  columns[bad.column] = bad.value;
  std::string names;
  std::string values;
  for (const auto& [column, value] : columns) {
    names += (names.empty() ? "" : ", ") + column;
    values += (values.empty() ? "" : ", ") + value;
  }
  return how + " INTO notification_outbox (" + names + ") VALUES (" + values + ")";
}

// INSERT OR IGNORE would otherwise drop such a message without a word.
TEST_F(SchemaTest, ConstraintsRefuseWhatTheRelayCouldNotHandle) {
  insert(message({}));
  insert(message({}));
  for (const BadRow& bad : kBadRows) {
    for (const char* how : {"INSERT", "INSERT OR IGNORE"}) {
      EXPECT_NE(sql_error(insert_row(how, bad)), "")
          << how << ' ' << bad.column << " = " << std::string(bad.value).substr(0, 60);
    }
  }
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 2);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(SchemaTest, WhatEnqueueRefusesIsRefusedInRowsOfOtherPrograms) {
  insert(message("k1"));
  for (const BadRow& bad : kBadNewRows) {
    for (const char* how : {"INSERT", "INSERT OR IGNORE"})
      EXPECT_NE(sql_error(insert_row(how, bad)), "") << how << ' ' << bad.column << " = " << bad.value;
    if (std::string_view(bad.column) == "payload") continue;
    EXPECT_NE(sql_error(std::string("UPDATE notification_outbox SET ") + bad.column + " = " + bad.value), "")
        << bad.column << " = " << bad.value;
  }
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 1);
}

// The same for a row that is there, and for a program that knows our columns.
TEST_F(SchemaTest, ChecksHoldForUpdatesToo) {
  insert(message("k1"));
  for (const BadRow& bad : kBadRows) {
    if (std::string_view(bad.column) == "status" || std::string_view(bad.column) == "attempts" ||
        std::string_view(bad.column) == "id")
      continue;
    EXPECT_NE(sql_error(std::string("UPDATE notification_outbox SET ") + bad.column + " = " + bad.value), "")
        << bad.column << " = " << std::string(bad.value).substr(0, 60);
  }
}

TEST_F(SchemaTest, GoodRowsOfOtherProgramsAreTaken) {
  for (const BadRow& good :
       {BadRow{"payload", "' \n{\"body\":\"x\"} '"}, BadRow{"recipient", "'홍길동 <a@example.com>'"},
        BadRow{"not_before", "1795958769000"}, BadRow{"not_before", "'1795958769000'"}, BadRow{"priority", "0"},
        BadRow{"priority", "9.0"}, BadRow{"kind", "'ORDER_PAID'"}, BadRow{"dedup_key", "'order:1'"},
        BadRow{"channel", "'sms.kr_2-b'"}, BadRow{"payload", "'{\"data\":{}}'"},
        BadRow{"payload", "'{\"template\":\"t\"}'"}, BadRow{"payload", "'{\"\\u0062ody\":\"x\"}'"},
        BadRow{"kind", "'고지'"}})
    EXPECT_EQ(sql_error(insert_row("INSERT", good)), "") << good.column << " = " << good.value;
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

TEST_F(SchemaTest, ExpiryComesAfterNotBefore) {
  EXPECT_THAT(sql_error("INSERT INTO notification_outbox (channel, recipient, payload, not_before, expires_at)"
                        " VALUES ('mail', 'a', '{\"body\":\"x\"}', 1795958769000, 1795958769000)"),
              HasSubstr("later than not_before"));
}

TEST_F(SchemaTest, ARowOfAnotherProgramIsDueAndCountedAtOnce) {
  sql("INSERT INTO notification_outbox (channel, recipient, payload) VALUES ('mail', 'a', '{\"body\":\"x\"}'), "
      "('mail', 'b', '{\"body\":\"x\"}')");
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox WHERE due_at = created_at AND ready_at = created_at"), 2);
  EXPECT_EQ(number("SELECT value FROM notification_counter WHERE bucket = 0 AND name = 'enqueued'"), 2);
  sql("INSERT INTO notification_outbox (channel, recipient, payload, not_before) VALUES ('mail', 'a', "
      "'{\"body\":\"x\"}', "
      "99999999999999)");
  EXPECT_EQ(number("SELECT ready_at FROM notification_outbox WHERE id = 3"), 99999999999999);
  now = Instant{number("SELECT max(created_at) FROM notification_outbox")};
  EXPECT_EQ(candidates().size(), 2U);
}

// REPLACE would delete the row and send its message again under a new id.
TEST_F(SchemaTest, ReplaceIsRefusedOtherwiseTheFirstOneStays) {
  const std::string row =
      " INTO notification_outbox (dedup_key, channel, recipient, payload) VALUES ('k1', 'mail', 'a', "
      "'{\"body\":\"x\"}')";
  sql("INSERT" + row);
  EXPECT_THAT(sql_error("INSERT OR REPLACE" + row), HasSubstr("use ON CONFLICT (dedup_key) DO NOTHING"));
  EXPECT_THAT(sql_error("REPLACE" + row), HasSubstr("REPLACE is refused"));
  for (const char* how : {"INSERT OR FAIL", "INSERT OR ABORT", "INSERT OR ROLLBACK"})
    EXPECT_THAT(sql_error(how + row), HasSubstr("use_on_conflict_do_nothing")) << how;
  EXPECT_THAT(sql_error("INSERT" + row), HasSubstr("dedup_key"));
  EXPECT_EQ(sql_error("INSERT OR IGNORE" + row), "");
  EXPECT_EQ(sql_error("INSERT" + row + " ON CONFLICT (dedup_key) DO NOTHING"), "");
  EXPECT_EQ(sql_error("INSERT" + row + " ON CONFLICT DO NOTHING"), "");
  EXPECT_EQ(number("SELECT count(*) FROM notification_outbox"), 1);
  EXPECT_EQ(number("SELECT id FROM notification_outbox"), 1);
  EXPECT_THAT(*store->verify_counters(), IsEmpty());
}

// --- migrations -------------------------------------------------------------------------------------------

std::vector<std::string> schema_of(sqlite::Database& database) {
  auto query = database.use_once(
      "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_master"
      " WHERE name NOT LIKE 'sqlite_%' ORDER BY 1");
  std::vector<std::string> out;
  while (*query->row()) out.push_back(query->text(0));
  return out;
}

// Every version that was ever released has a dump with data in tests/contract/schemas.
TEST_F(SchemaTest, EveryOlderVersionMigrates) {
  for (int version = 1; version <= newest_schema(); ++version) {
    std::ostringstream file;
    file << NOTIFYCTL_SOURCE_DIR << "/tests/contract/schemas/" << std::setw(4) << std::setfill('0') << version
         << ".sql";
    ASSERT_TRUE(fs::exists(file.str())) << file.str()
                                        << ": keep a dump of each version (see tests/contract/schemas/README.md)";
    const std::string old_path = directory / ("old" + std::to_string(version) + ".db");
    {
      sqlite3* handle = nullptr;
      ASSERT_EQ(sqlite3_open(old_path.c_str(), &handle), SQLITE_OK);
      const int rc =
          sqlite3_exec(handle, ("PRAGMA journal_mode=WAL;" + contents(file.str())).c_str(), nullptr, nullptr, nullptr);
      EXPECT_EQ(rc, SQLITE_OK) << sqlite3_errmsg(handle);
      sqlite3_close(handle);
    }
    OpenOptions options;
    options.path = old_path;
    const auto old = open_store(options);
    ASSERT_TRUE(old.has_value()) << old.error().message;
    EXPECT_EQ(schema_of((*old)->database()), schema_of(store->database())) << "version " << version;
    EXPECT_THAT(*(*old)->check_integrity(false), IsEmpty());
    EXPECT_THAT(*(*old)->verify_counters(), IsEmpty());
    const auto status = (*old)->status(now);
    ASSERT_TRUE(status.has_value()) << status.error().message;
    EXPECT_TRUE(status->identity.holds);
    EXPECT_GT(status->outbox.total(), 0);
    EXPECT_EQ(status->database.schema, newest_schema());
  }
}

TEST_F(SchemaTest, ANewerSchemaIsRefused) {
  sql("UPDATE notification_meta SET value = '999' WHERE key = 'schema'");
  const Result<void> late = store->write([&]() -> Result<void> {
    TRY(store->outbox().insert(message("k1"), now));
    return {};
  });
  EXPECT_FALSE(late.has_value()) << "also when it becomes newer under a running process";
  store.reset();
  OpenOptions options;
  options.path = path;
  for (const bool read_only : {false, true}) {
    options.read_only = read_only;
    const auto opened = open_store(options);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, Code::kConfig);
    EXPECT_THAT(opened.error().message, HasSubstr("999"));
  }
  InitOptions init;
  init.path = path;
  EXPECT_EQ(init_database(init).error().code, Code::kConfig);
}

}  // namespace
}  // namespace notify::test
