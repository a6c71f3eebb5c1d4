// Opening and making databases: whose file it is, where it lies, who may use it.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "contract/store_support.hpp"

namespace notify::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

uid_t owner_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_uid : static_cast<uid_t>(-1);
}

// Runs `body` in a process of its own, as user `uid` when that is not 0. Its exit status.
int in_child(uid_t uid, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (uid != 0 && (::setgid(uid) != 0 || ::setuid(uid) != 0)) _exit(99);
    _exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

constexpr uid_t kService = 65534;

class OpenTest : public ::testing::Test {
 protected:
  OpenOptions existing(bool read_only = false) const {
    OpenOptions options;
    options.path = path;
    options.read_only = read_only;
    return options;
  }
  Error error(const OpenOptions& options) const {
    const auto opened = open_store(options);
    return opened ? Error{Code::kInternal, "it opened"} : opened.error();
  }
  // Somebody else's database, made by another program.
  void make_foreign() const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, "CREATE TABLE orders (id INTEGER PRIMARY KEY)", nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(handle);
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  }
  static Result<void> insert_one(SqliteStore& store, const std::string& key) {
    return store.write([&]() -> Result<void> {
      TRY(store.outbox().insert(message(key), kSomeTime));
      return {};
    });
  }

  ScratchDirectory directory;
  std::string path = directory / "notify.db";
};

TEST_F(OpenTest, AMissingFileIsNotMadeUnlessAskedFor) {
  EXPECT_EQ(error(existing()).code, Code::kNotFound);
  EXPECT_THAT(error(existing()).hint, HasSubstr("notifyctl init"));
  EXPECT_FALSE(std::filesystem::exists(path));
  OpenOptions reading = creating(path);
  reading.read_only = true;
  EXPECT_EQ(error(reading).code, Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(OpenTest, F21_NewFilesArePrivateWhateverTheUmask) {
  for (const mode_t mask : {0000U, 0022U, 0077U, 0777U}) {
    const mode_t before = ::umask(mask);
    path = directory / ("u" + std::to_string(mask) + ".db");
    const auto store = open_store(creating(path));
    ::umask(before);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_EQ(mode_of(path), 0600U) << mask;
    EXPECT_EQ(mode_of(path + "-wal"), 0600U) << mask;
    EXPECT_EQ(mode_of(path + "-shm"), 0600U) << mask;
  }
}

TEST_F(OpenTest, ParentDirectoriesOnlyForTheDefaultPath) {
  path = directory / "a/b/notify.db";
  EXPECT_EQ(error(creating(path)).code, Code::kCannotCreate);
  OpenOptions options = creating(path);
  options.create_parent = true;
  ASSERT_TRUE(open_store(options).has_value());
  EXPECT_EQ(mode_of(directory / "a/b"), 0700U);
}

TEST_F(OpenTest, AnEmptyFileBecomesOurs) {
  { std::ofstream touch(path); }
  const auto store = open_store(creating(path));
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ((*store)->status(kSomeTime)->database.journal_mode, "wal");
}

TEST_F(OpenTest, SomebodyElsesFileIsLeftAsItIs) {
  make_foreign();
  for (const OpenOptions& options : {existing(), existing(true), creating(path)}) {
    EXPECT_EQ(error(options).code, Code::kConfig);
    EXPECT_THAT(error(options).message, HasSubstr("no notification tables"));
  }
  InitOptions init;
  init.path = path;
  const auto report = init_database(init);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->created_schema);
  EXPECT_FALSE(report->created_file);
  EXPECT_EQ(report->journal_mode, "delete");
  EXPECT_EQ(mode_of(path), 0644U);
  EXPECT_THAT(error(existing()).message, HasSubstr("journal mode is delete"));
  EXPECT_THAT(error(existing()).hint, HasSubstr("--wal"));

  init.wal = true;
  const auto again = init_database(init);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->journal_mode, "wal");
  EXPECT_FALSE(again->created_schema);
  EXPECT_EQ(again->generation, report->generation);
  EXPECT_TRUE(open_store(existing()).has_value());
  EXPECT_EQ(mode_of(path), 0644U);
}

TEST_F(OpenTest, InitFixesTheSourceForEver) {
  InitOptions init;
  init.path = path;
  init.source = "shop-1";
  const auto first = init_database(init);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->created_file);
  EXPECT_EQ(first->source, "shop-1");
  EXPECT_EQ(mode_of(path), 0600U);
  init.source.reset();
  EXPECT_EQ(init_database(init)->source, "shop-1");
  init.source = "shop-2";
  EXPECT_EQ(init_database(init).error().code, Code::kConflict);
  for (const char* bad : {"", "Shop", "a b", "a_b", "shop/1"}) {
    init.source = bad;
    EXPECT_EQ(init_database(init).error().code, Code::kUsage) << bad;
  }
  init.source = std::string(61, 'a');
  EXPECT_EQ(init_database(init).error().code, Code::kUsage);
}

TEST_F(OpenTest, WhatIsNoDatabaseIsSaidToBeNone) {
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_EQ(error(existing()).code, Code::kConfig);
  EXPECT_THAT(error(existing()).message, HasSubstr("not an SQLite database"));
  path = directory.path();
  EXPECT_THAT(error(existing()).message, HasSubstr("not a regular file"));
}

TEST_F(OpenTest, ALinkLeadsToOneDatabase) {
  ASSERT_TRUE(open_store(creating(path)).has_value());
  const std::string link = directory / "link.db";
  std::filesystem::create_symlink(path, link);
  OpenOptions options = existing();
  options.path = link;
  EXPECT_EQ((*open_store(options))->path(), std::filesystem::canonical(path).string());
}

TEST_F(OpenTest, ReadingNeitherWritesNorMigrates) {
  ASSERT_TRUE(open_store(creating(path)).has_value());
  const auto store = open_store(existing(true));
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_TRUE((*store)->status(kSomeTime).has_value());
  EXPECT_FALSE(insert_one(**store, "k").has_value());
}

TEST_F(OpenTest, F28_NetworkFileSystemsAreRefused) {
  ASSERT_TRUE(open_store(creating(path)).has_value());
  for (const auto& [type, name] : {std::pair{0x6969L, "nfs"},
                                   {0xFF534D42L, "cifs"},
                                   {-11317950L, "cifs"},
                                   {0x517BL, "smb"},
                                   {0x01021997L, "9p"},
                                   {0x65735546L, "fuse"},
                                   {0x00C36400L, "ceph"},
                                   {0x5346414FL, "afs"}}) {
    OpenOptions options = existing();
    options.fake_filesystem = type;
    EXPECT_EQ(error(options).code, Code::kConfig) << name;
    EXPECT_THAT(error(options).message, HasSubstr(name));
    InitOptions init;
    init.path = path;
    init.fake_filesystem = type;
    EXPECT_EQ(init_database(init).error().code, Code::kConfig) << name;
    options = creating(directory / "new.db");
    options.fake_filesystem = type;
    EXPECT_EQ(error(options).code, Code::kConfig) << name;
    EXPECT_FALSE(std::filesystem::exists(directory / "new.db")) << "refused before anything is made";
  }
  for (const long local : {0xEF53L, 0x01021994L, 0x794C7630L, 0x123456L}) {
    OpenOptions options = existing();
    options.fake_filesystem = local;
    EXPECT_TRUE(open_store(options).has_value()) << local;
  }
  OpenOptions fuse = existing();
  fuse.fake_filesystem = 0x65735546L;
  fuse.allow_fuse = true;
  EXPECT_EQ((*open_store(fuse))->status(kSomeTime)->database.filesystem, "fuse");
}

TEST_F(OpenTest, F18_ManyMakeTheDatabaseAtTheSameMoment) {
  for (int round = 0; round < 10; ++round) {
    path = directory / ("race" + std::to_string(round) + ".db");
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(gate[1]);
        char byte = 0;
        if (::read(gate[0], &byte, 1) != 0) _exit(9);  // end of file: all start
        const auto store = open_store(creating(path));
        if (!store) {
          ::fprintf(stderr, "%s\n", store.error().message.c_str());
          _exit(1);
        }
        _exit(insert_one(**store, "k" + std::to_string(i)).has_value() ? 0 : 2);
      }
      children.push_back(child);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    const auto store = open_store(existing());
    ASSERT_TRUE(store.has_value());
    EXPECT_EQ((*store)->status(kSomeTime)->outbox.pending, 6);
  }
}

// Each of them finds a database that nobody has open, and reads the whole log before it can begin.
TEST_F(OpenTest, TheLogOfShortCommandsStaysShort) {
  std::uintmax_t longest = 0;
  int removed = 0;
  for (int i = 0; i < 200; ++i) {
    {
      const auto store = open_store(creating(path));
      ASSERT_TRUE(store.has_value() && insert_one(**store, "k" + std::to_string(i)).has_value());
    }
    const bool there = std::filesystem::exists(path + "-wal");
    removed += there ? 0 : 1;
    if (there) longest = std::max(longest, std::filesystem::file_size(path + "-wal"));
  }
  EXPECT_LT(longest, 250U * 4120U);
  EXPECT_GE(removed, 2);
  EXPECT_LE(removed, 20) << "three syncs more, each time";
}

// --- other users ------------------------------------------------------------------------------------------

class OtherUsersTest : public OpenTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become other users";
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    ASSERT_EQ(::mkdir(home.c_str(), 0755), 0);
    ASSERT_EQ(::chown(home.c_str(), kService, kService), 0);
    path = home + "/notify.db";
  }
  int as_service(const std::function<int()>& body) { return in_child(kService, body); }

  std::string home = directory / "home";
};

TEST_F(OtherUsersTest, F21_RootInBetweenBlocksNobody) {
  const auto enqueue = [&](const char* key) {
    return [this, key] {
      auto store = open_store(creating(path));
      if (!store) return 1;
      return insert_one(**store, key).has_value() ? 0 : 2;
    };
  };
  EXPECT_EQ(as_service(enqueue("a")), 0);
  EXPECT_EQ(in_child(0, [&] { return open_store(existing(true)).has_value() ? 0 : 1; }), 0);
  EXPECT_EQ(in_child(0, enqueue("b")), 0);
  for (const std::string& file : {path, path + "-wal", path + "-shm"}) {
    if (!std::filesystem::exists(file)) continue;
    EXPECT_EQ(owner_of(file), kService) << file;
  }
  EXPECT_EQ(as_service(enqueue("c")), 0);
}

TEST_F(OtherUsersTest, F21_AStrangerLeavesNothingBehind) {
  ASSERT_TRUE(open_store(creating(path)).has_value());  // root's
  ASSERT_EQ(::chmod(home.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  std::filesystem::remove(path + "-wal");
  std::filesystem::remove(path + "-shm");
  for (const bool read_only : {true, false}) {
    EXPECT_EQ(as_service([&] {
                const Error refused = error(existing(read_only));
                const bool named = refused.message.find("belongs to user id 0") != std::string::npos &&
                                   refused.message.find("user id 65534") != std::string::npos &&
                                   refused.message.find(path) != std::string::npos;
                if (!named) ::fprintf(stderr, "%s\n", refused.message.c_str());
                return refused.code == Code::kPermission && named ? 0 : 1;
              }),
              0)
        << read_only;
    EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
    EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
  }
}

TEST_F(OtherUsersTest, F21_ADirectoryThatMayNotBeWrittenIsNamed) {
  EXPECT_EQ(as_service([&] { return open_store(creating(path)).has_value() ? 0 : 1; }), 0);
  std::filesystem::remove(path + "-wal");
  std::filesystem::remove(path + "-shm");
  ASSERT_EQ(::chown(home.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(home.c_str(), 0555), 0);
  EXPECT_EQ(as_service([&] {
              const Error refused = error(existing());
              const bool named = refused.message.find(home + " belongs to user id 0 (mode 0555)") != std::string::npos;
              if (!named) ::fprintf(stderr, "%s\n", refused.message.c_str());
              return refused.code == Code::kPermission && named ? 0 : 1;
            }),
            0);
  EXPECT_EQ(as_service([&] { return error(creating(home + "/new.db")).code == Code::kPermission ? 0 : 1; }), 0);
}

}  // namespace
}  // namespace notify::test
