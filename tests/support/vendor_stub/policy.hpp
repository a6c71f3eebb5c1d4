// Decides, request by request, which behaviour applies and how long its answer takes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "behaviour.hpp"
#include "request.hpp"
#include "vendor.hpp"

namespace stub {

struct Latency {
  Nanos mean{0};
  Nanos spread{0};
  bool uniform = false;  // spread is half the width, otherwise the standard deviation
};

// "30ms", "30ms±10ms", "30ms+-10ms", each with ",uniform" or ",normal".
Latency parse_latency(std::string_view text);

struct PolicySettings {
  std::string mode = "ok";
  std::string rules_text;
  std::vector<std::string> failures;  // "0.03:503", "0.01:rst"
  Latency latency;
  std::uint64_t seed = 1;
  std::string ok_body = R"({"ok":true})";
  bool path_modes = true;
};

struct Plan {
  const Behaviour* act = nullptr;
  Nanos delay{0};
};

// Order of precedence: rules from the top, then the path, then the default mode, then plain 200. A rule that
// its gate holds back (times used up, not the n-th …) lets the next one in the order decide.
class Policy {
 public:
  explicit Policy(const PolicySettings& settings);

  // Behaviours of the early stages; nullptr means carry on.
  const Behaviour* at_connect(std::uint64_t connection);
  const Behaviour* at_head(const Request& request);
  const Behaviour* at_smtp(SmtpStage stage, const Request& request);
  // `vendor` decides where no rule does; nullptr: nobody.
  Plan at_end(const Request& request, Vendor* vendor = nullptr);
  Plan with_latency(const Behaviour& act);

  void set_mode(std::string_view text);
  void set_rules(std::string_view text);
  void set_latency(std::string_view text);
  const std::string& mode_label() const { return default_->act.label; }

 private:
  const Behaviour* decide(Stage stage, const Request& request, SmtpStage at);
  bool applies(Rule& rule, Stage stage, const Request& request, SmtpStage at);
  bool gate_opens(Rule& rule, const Request& request);
  Rule* rule_of_path(std::string_view path);
  const Behaviour* chance_failure(const Request& request);
  Nanos draw_latency();

  PolicySettings settings_;
  std::mt19937_64 random_;
  // Behaviours are referred to by pointer from timers, so replaced rules are kept: deques never move or drop.
  std::deque<Rule> store_;
  std::vector<Rule*> rules_;
  std::vector<Rule*> failures_;
  Rule* default_ = nullptr;
  Rule* plain_ = nullptr;
  std::unordered_map<std::string, Rule*> paths_;
};

}  // namespace stub
