#include "sys/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "sys/ca_bundle.hpp"

namespace notify {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = fs::temp_directory_path() / "notify-files-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory");
    directory_ = pattern;
    path_ = pattern + "/file";
  }
  ~Files() override { fs::remove_all(directory_); }

  void put(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(path_, std::ios::binary) << text;
    ::chmod(path_.c_str(), mode);
  }
  std::size_t files_here() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  std::string directory_;
  std::string path_;
};

TEST_F(Files, AtomicWriteMakesAndReplaces) {
  const mode_t old = ::umask(0077);
  ASSERT_TRUE(write_file_atomically(path_, "one", 0644));
  ::umask(old);
  EXPECT_EQ(read_file(path_, 100).value(), "one");
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644U);
  ASSERT_TRUE(write_file_atomically(path_, std::string(200'000, 'x')));
  EXPECT_EQ(read_file(path_, 1'000'000).value().size(), 200'000U);
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(files_here(), 1U);
}

TEST_F(Files, AtomicWriteThatFailsLeavesTheOldFileAlone) {
  fs::create_directory(path_);  // a directory cannot be replaced by a file
  const Result<void> written = write_file_atomically(path_, "new");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(path_), std::string::npos);
  EXPECT_EQ(files_here(), 1U);
  EXPECT_EQ(write_file_atomically("/nonexistent/x", "y").error().code, Code::kCannotCreate);
}

TEST_F(Files, F23_NoSpaceIsItsOwnError) {
  EXPECT_EQ(file_error("x", ENOSPC).code, Code::kDiskFull);
  EXPECT_EQ(file_error("x", EDQUOT).code, Code::kDiskFull);
  EXPECT_EQ(file_error("x", EACCES).code, Code::kPermission);
  EXPECT_EQ(file_error("x", EROFS).code, Code::kPermission);
  EXPECT_EQ(file_error("x", EIO).code, Code::kIo);
}

TEST_F(Files, ANamedPipeIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const Result<std::string> text = read_file(path_, 100);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("named pipe"), std::string::npos);
}

// What a shell makes of <(…) has somebody who writes.
TEST_F(Files, APipeThatTheShellHandsOverIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(::write(ends[1], "late", 4), 4);
    ::close(ends[1]);
  });
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 100).value(), "late");
  writer.join();
  ::close(ends[0]);
}

TEST_F(Files, ReadIsBounded) {
  put(std::string(1001, 'x'));
  EXPECT_EQ(read_file(path_, 1000).error().code, Code::kBadInput);
  EXPECT_EQ(read_file(path_, 1001).value().size(), 1001U);
  EXPECT_EQ(read_file(directory_ + "/none", 10).error().code, Code::kNotFound);
}

TEST_F(Files, F57_SecretsThatOthersMayReadAreRefused) {
  for (const mode_t mode : {0640U, 0604U, 0660U, 0644U, 0601U, 0610U}) {
    put("SECRET\n", mode);
    const Result<std::string> secret = read_secret_file(path_);
    ASSERT_FALSE(secret) << mode;
    EXPECT_EQ(secret.error().code, Code::kPermission);
    EXPECT_EQ(secret.error().message.find("SECRET"), std::string::npos);
    EXPECT_NE(secret.error().hint.find("chmod 600"), std::string::npos);
  }
  put("SECRET", 0400);
  EXPECT_EQ(read_secret_file(path_).value(), "SECRET");
}

TEST_F(Files, F58_OneLineEndIsNotPartOfASecret) {
  for (const auto& [text, secret] : {std::pair("s\n", "s"), std::pair("s\r\n", "s"), std::pair("s", "s"),
                                     std::pair("s\n\n", "s\n"), std::pair(" s ", " s "), std::pair("a\nb\n", "a\nb")}) {
    put(text);
    EXPECT_EQ(read_secret_file(path_).value(), secret);
  }
  for (const char* empty : {"", "\n", "\r\n"}) {
    put(empty);
    EXPECT_EQ(read_secret_file(path_).error().code, Code::kConfig);
  }
}

TEST_F(Files, ASecretFileIsARegularFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(read_secret_file(path_).error().code, Code::kConfig);  // and does not wait for a writer
  EXPECT_FALSE(read_secret_file(directory_));
}

TEST_F(Files, DescriptorsAreClosedOnceAndNeverInherited) {
  int number = -1;
  {
    Fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = one.get();
    Fd two(std::move(one));
    EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move): what is left behind is the point
    EXPECT_EQ(two.get(), number);
    Fd three;
    three = std::move(two);
    EXPECT_EQ(::fcntl(number, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_F(Files, ResolvedPathIsBesideTheRealFile) {
  put("x");
  fs::create_directory(directory_ + "/sub");
  fs::create_symlink(path_, directory_ + "/sub/link");
  const std::string real = fs::canonical(path_);
  EXPECT_EQ(resolved_path(directory_ + "/sub/link"), real);
  EXPECT_EQ(resolved_path(directory_ + "/sub/../file"), real);
  EXPECT_EQ(resolved_path(directory_ + "/sub/../new"), fs::canonical(directory_).string() + "/new");
  EXPECT_EQ(resolved_path("/nonexistent/a/b"), "/nonexistent/a/b");
}

TEST_F(Files, F35_CaBundleIsFoundOrTheErrorSaysWhereItLooked) {
  put("certificates");
  EXPECT_EQ(find_ca_bundle(path_, std::nullopt).value(), path_);
  EXPECT_EQ(find_ca_bundle(path_, "/nonexistent").value(), path_);
  EXPECT_EQ(find_ca_bundle("", path_).value(), path_);
  for (const auto& error :
       {find_ca_bundle("/nonexistent/a", path_).error(), find_ca_bundle("", "/nonexistent/a").error()}) {
    EXPECT_EQ(error.code, Code::kConfig);
    EXPECT_NE(error.message.find("/nonexistent/a"), std::string::npos);
  }
  const Result<std::string> found = find_ca_bundle("", std::nullopt);
  if (found) {
    EXPECT_TRUE(fs::exists(*found));
    return;
  }
  for (const char* path : well_known_ca_bundles()) EXPECT_NE(found.error().message.find(path), std::string::npos);
}

}  // namespace
}  // namespace notify
