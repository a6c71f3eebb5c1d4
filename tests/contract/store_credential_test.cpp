// The cache of credentials over the real database: what one process does, the others see.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "contract/store_support.hpp"
#include "core/prune.hpp"
#include "store/credential.hpp"
#include "store/restore.hpp"

namespace notify::test {
namespace {

class CredentialStore : public StoreTest {
 protected:
  std::int64_t run() {
    return written([&] { return store->runs().begin("work", 1, now); });
  }
  Credential credential(std::string value) { return {Secret(std::move(value)), now, now + 1h}; }

  SharedCredentials one{path, run()};
  std::int64_t second = run();
  SharedCredentials two{path, second};
};

TEST_F(CredentialStore, OneFetchesAndAllHaveIt) {
  EXPECT_FALSE(one.find("push:1")->has_value());
  EXPECT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  EXPECT_FALSE(*two.begin_fetch("push:1", now + 11s, now + 1s));
  EXPECT_TRUE(*two.begin_fetch("push:2", now + 11s, now + 1s)) << "each name for itself";
  EXPECT_TRUE(*one.keep("push:1", credential("token")));
  const auto found = *two.find("push:1");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->value.reveal(), "token");
  EXPECT_EQ(found->made, now);
  EXPECT_EQ(found->expires, now + 1h);
  EXPECT_TRUE(*two.begin_fetch("push:1", now + 11s, now + 1s)) << "the fetch is over";
}

TEST_F(CredentialStore, AFetchEndsWithItsLease) {
  EXPECT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  EXPECT_FALSE(*two.begin_fetch("push:1", now + 19s, now + 9s));
  EXPECT_TRUE(*two.begin_fetch("push:1", now + 20s, now + 10s));
  EXPECT_FALSE(*one.keep("push:1", credential("late")));
  EXPECT_FALSE(one.find("push:1")->has_value());
  EXPECT_TRUE(one.end_fetch("push:1").has_value());
  EXPECT_FALSE(*one.begin_fetch("push:1", now + 21s, now + 11s)) << "only the holder's own end counts";
}

TEST_F(CredentialStore, AFetchEndsWithItsProcess) {
  EXPECT_TRUE(*two.begin_fetch("push:1", now + 10s, now));
  EXPECT_FALSE(*one.begin_fetch("push:1", now + 10s, now));
  write([&] { return store->runs().mark_dead(second, now); });
  EXPECT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
}

TEST_F(CredentialStore, ALeaseFromAClockThatWasAheadHoldsNobodyUp) {
  EXPECT_TRUE(*one.begin_fetch("push:1", now + 24h, now + 24h - 10s));
  EXPECT_TRUE(*two.begin_fetch("push:1", now + 10s, now));
}

TEST_F(CredentialStore, AFailedFetchLeavesTheOldOne) {
  ASSERT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  ASSERT_TRUE(*one.keep("push:1", credential("old")));
  ASSERT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  EXPECT_TRUE(one.end_fetch("push:1").has_value());
  EXPECT_EQ((*two.find("push:1"))->value.reveal(), "old");
  EXPECT_TRUE(*two.begin_fetch("push:1", now + 10s, now));
}

TEST_F(CredentialStore, OnlyTheRefusedOneIsForgotten) {
  ASSERT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  ASSERT_TRUE(*one.keep("push:1", credential("new")));
  EXPECT_FALSE(*two.forget("push:1", Secret("old")));
  EXPECT_TRUE(two.find("push:1")->has_value());
  EXPECT_TRUE(*two.forget("push:1", Secret("new")));
  EXPECT_FALSE(one.find("push:1")->has_value());
}

TEST_F(CredentialStore, TheTableRefusesHalfACredential) {
  EXPECT_NE(sql_error("INSERT INTO notification_credential (name, value) VALUES ('a', 'v')"), "");
  EXPECT_NE(sql_error("INSERT INTO notification_credential (name, fetch_holder) VALUES ('a', 1)"), "");
  EXPECT_NE(sql_error("INSERT INTO notification_credential (name, value, made_at, expires_at) VALUES ('a', 'v', 2, 1)"),
            "");
  EXPECT_NE(sql_error("INSERT INTO notification_credential (name) VALUES ('')"), "");
  EXPECT_EQ(sql_error("INSERT INTO notification_credential (name) VALUES ('a')"), "");
}

TEST_F(CredentialStore, LiesInAFileThatOnlyItsOwnerReads) {
  ASSERT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(CredentialStore, PruneTakesWhatHasEnded) {
  for (const char* name : {"push:ended", "push:lives", "push:renewed"}) {
    ASSERT_TRUE(*one.begin_fetch(name, now + 10s, now));
    ASSERT_TRUE(*one.keep(name, credential(name)));
  }
  FakeClock clock;
  NeverCrashes crash_points;
  const auto prune_at = [&](Instant at) {
    clock.wall = at;
    PruneOptions options;
    options.scrub_after = 30 * 24h;
    EXPECT_TRUE(prune(*store, store->prune(), clock, crash_points, options).has_value());
    return number("SELECT count(*) FROM notification_credential");
  };
  EXPECT_EQ(prune_at(now + 59min), 3);
  ASSERT_TRUE(*one.begin_fetch("push:lives", now + 61min + 10s, now + 61min));
  ASSERT_TRUE(*one.keep("push:lives", {Secret("x"), now + 61min, now + 2h}));
  ASSERT_TRUE(*one.begin_fetch("push:renewed", now + 61min + 10s, now + 61min));
  EXPECT_EQ(prune_at(now + 61min), 2);
}

TEST_F(CredentialStore, ARestoreDropsThemAll) {
  ASSERT_TRUE(*one.begin_fetch("push:1", now + 10s, now));
  ASSERT_TRUE(*one.keep("push:1", credential("token")));
  RestoreOptions options;
  options.path = path;
  options.undetected_too = true;
  options.now = now;
  ASSERT_TRUE(take_over_restored(options).has_value());
  EXPECT_EQ(number("SELECT count(*) FROM notification_credential"), 0);
}

}  // namespace
}  // namespace notify::test
