#include "store/credential.hpp"

#include "store/open.hpp"
#include "store/sqlite/database.hpp"

namespace notify {
namespace {

// This runs on the event loop's thread, which must not stand still for long.
constexpr Duration kBusy{2'000};

constexpr Duration kNoLeaseIsLonger{60'000};

// One statement in a transaction of its own; whether it changed its row.
template <class... Args>
Result<bool> change(SqliteStore& store, sqlite::Sql sql, const Args&... args) {
  bool changed = false;
  TRY(store.write([&]() -> Result<void> {
    TRY_ASSIGN(sqlite::Use statement, store.database().use(sql));
    TRY_ASSIGN(const int rows, statement.bind(args...).run());
    changed = rows == 1;
    return {};
  }));
  return changed;
}

}  // namespace

Result<SqliteStore*> SharedCredentials::store() {
  if (store_ == nullptr) {
    OpenOptions options;
    options.path = path_;
    options.busy_timeout = kBusy;
    TRY_ASSIGN(store_, open_store(options));
  }
  return store_.get();
}

Result<std::optional<Credential>> SharedCredentials::find(std::string_view name) {
  TRY_ASSIGN(SqliteStore * store, this->store());
  TRY_ASSIGN(sqlite::Use query, store->database().use(R"sql(
    SELECT value, made_at, expires_at FROM notification_credential WHERE name = ?1 AND value IS NOT NULL)sql"));
  TRY_ASSIGN(const bool found, query.bind(name).row());
  if (!found) return std::nullopt;
  return Credential{Secret(query.text(0)), query.instant(1), query.instant(2)};
}

Result<bool> SharedCredentials::begin_fetch(std::string_view name, Instant until, Instant now) {
  const Instant bogus = until + kNoLeaseIsLonger;
  TRY_ASSIGN(SqliteStore * store, this->store());
  return change(*store, R"sql(
    INSERT INTO notification_credential (name, fetch_holder, fetch_until) VALUES (?1, ?2, ?3)
    ON CONFLICT (name) DO UPDATE SET fetch_holder = excluded.fetch_holder, fetch_until = excluded.fetch_until
     WHERE fetch_until IS NULL OR fetch_until <= ?4 OR fetch_until > ?5 OR
           NOT EXISTS (SELECT 1 FROM notification_run WHERE id = fetch_holder AND ended_at IS NULL))sql",
                name, run_, until, now, bogus);
}

Result<bool> SharedCredentials::keep(std::string_view name, const Credential& credential) {
  TRY_ASSIGN(SqliteStore * store, this->store());
  return change(*store, R"sql(
    UPDATE notification_credential
       SET value = ?3, made_at = ?4, expires_at = ?5, fetch_holder = NULL, fetch_until = NULL
     WHERE name = ?1 AND fetch_holder = ?2)sql",
                name, run_, credential.value.reveal(), credential.made, credential.expires);
}

Result<void> SharedCredentials::end_fetch(std::string_view name) {
  TRY_ASSIGN(SqliteStore * store, this->store());
  TRY(change(*store, R"sql(
    UPDATE notification_credential SET fetch_holder = NULL, fetch_until = NULL
     WHERE name = ?1 AND fetch_holder = ?2)sql",
             name, run_));
  return {};
}

Result<bool> SharedCredentials::forget(std::string_view name, const Secret& refused) {
  TRY_ASSIGN(SqliteStore * store, this->store());
  return change(*store, R"sql(
    UPDATE notification_credential SET value = NULL, made_at = NULL, expires_at = NULL
     WHERE name = ?1 AND value = ?2)sql",
                name, refused.reveal());
}

}  // namespace notify
