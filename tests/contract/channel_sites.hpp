#pragma once

// Local receivers for the drivers, one kind each.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/message.hpp"

namespace notify::test {

// A local receiver for one driver.
class Site {
 public:
  virtual ~Site() = default;
  virtual DriverConfig accepting() = 0;    // takes every message
  virtual DriverConfig unreachable() = 0;  // nothing can be handed over there
  // Refuses for good and says why, repeating what it was given.
  virtual DriverConfig refusing() {
    ADD_FAILURE() << "this receiver cannot refuse";
    return accepting();
  }
  // The documents received, in any order, one for each time that it was handed over.
  virtual std::vector<nlohmann::json> received() = 0;
  // An address that this driver can send to; it holds the number 821000000042.
  virtual std::string address() const { return "+821000000042"; }
  virtual bool carries_data() const { return true; }  // hands on the message's data as it is
  virtual bool carries_body() const { return true; }  // received() can tell the text
  virtual bool is_the_lane() const { return true; }   // what is wrong with it would meet every message
  virtual std::size_t largest_body() const { return limits::kPayload - 1000; }
  // What it knows a message by.
  virtual std::string mark_of(const std::string& message_id) const { return message_id; }
  virtual std::string ca_file() const { return {}; }
};

class Directory {
 public:
  Directory() {
    std::string pattern = testing::TempDir() + "channel-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path = pattern;
  }
  ~Directory() { std::filesystem::remove_all(path); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::filesystem::path path{};
};

// Those of the vendors that have a driver of their own: the stub, which enforces their protocols.
std::unique_ptr<Site> make_apns_site();
std::unique_ptr<Site> make_fcm_site();
std::unique_ptr<Site> make_ses_site();
std::unique_ptr<Site> make_webpush_site();

}  // namespace notify::test
