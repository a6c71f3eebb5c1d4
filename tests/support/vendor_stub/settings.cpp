#include "settings.hpp"

#include <functional>
#include <stdexcept>
#include <unordered_map>

#include "modes.hpp"

namespace stub {

namespace {

using Words = std::vector<std::string>;

// Walks over the words; options that want a value take the next one.
class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}
  bool done() const { return at_ >= words_.size(); }
  const std::string& next() { return words_[at_++]; }
  const std::string& value(const std::string& option) {
    if (done()) throw std::invalid_argument(option + " wants a value");
    return next();
  }

 private:
  const Words& words_;
  std::size_t at_ = 0;
};

std::uint64_t number_of(const std::string& option, const std::string& text) {
  const auto number = parse_number(text);
  if (!number) throw std::invalid_argument(option + ": not a number: " + text);
  return *number;
}

CertificateKind certificate_kind(const std::string& text) {
  if (text == "good") return CertificateKind::good;
  if (text == "wrong-host") return CertificateKind::wrong_host;
  if (text == "expired") return CertificateKind::expired;
  if (text == "future") return CertificateKind::future;
  if (text == "unknown-ca") return CertificateKind::unknown_ca;
  throw std::invalid_argument("--cert-kind: unknown kind " + text);
}

bool protocol_is_smtp(const std::string& text) {
  if (text == "smtp") return true;
  if (text == "http") return false;
  throw std::invalid_argument("--protocol: http or smtp");
}

using ServerSetter = std::function<void(ServerSettings&, const std::string&)>;

const std::unordered_map<std::string, ServerSetter>& valued_options() {
  using S = ServerSettings;
  using V = const std::string&;
  static const std::unordered_map<std::string, ServerSetter> options{
      {"--listen", [](S& s, V v) { s.listen = v; }},
      {"--port-file", [](S& s, V v) { s.port_file = v; }},
      {"--control", [](S& s, V v) { s.control = v; }},
      {"--control-port-file", [](S& s, V v) { s.control_port_file = v; }},
      {"--protocol", [](S& s, V v) { s.smtp = protocol_is_smtp(v); }},
      {"--cert", [](S& s, V v) { s.certificate.certificate = v; }},
      {"--key", [](S& s, V v) { s.certificate.key = v; }},
      {"--self-signed", [](S& s, V v) { s.certificate.self_signed = v; }},
      {"--cert-kind", [](S& s, V v) { s.certificate.kind = certificate_kind(v); }},
      {"--log", [](S& s, V v) { s.log = v; }},
      {"--mode", [](S& s, V v) { s.policy.mode = v; }},
      {"--rules", [](S& s, V v) { s.policy.rules_text += read_file(v) + "\n"; }},
      {"--rule", [](S& s, V v) { s.policy.rules_text += v + "\n"; }},
      {"--fail", [](S& s, V v) { s.policy.failures.push_back(v); }},
      {"--latency", [](S& s, V v) { s.policy.latency = parse_latency(v); }},
      {"--seed", [](S& s, V v) { s.policy.seed = number_of("--seed", v); }},
      {"--h2-streams", [](S& s, V v) { s.http2_streams = static_cast<std::uint32_t>(number_of("--h2-streams", v)); }},
      {"--vendor",
       [](S& s, V v) {
         s.vendor = v;
         s.all_headers = true;
         s.policy.path_modes = false;
       }},
      {"--ok-body", [](S& s, V v) { s.policy.ok_body = v; }},
  };
  return options;
}

bool set_switch(ServerSettings& settings, const std::string& option) {
  if (option == "--tls")
    settings.tls = true;
  else if (option == "--starttls")
    settings.starttls = true;
  else if (option == "--no-h2")
    settings.certificate.http2 = false;
  else if (option == "--no-body")
    settings.with_body = false;
  else if (option == "--all-headers")
    settings.all_headers = true;
  else if (option == "--no-continue")
    settings.sends_continue = false;
  else if (option == "--no-path-modes")
    settings.policy.path_modes = false;
  else if (option == "--parent-death")
    settings.parent_death = true;
  else
    return false;
  return true;
}

SummarySettings parse_summary(Reader& reader) {
  SummarySettings summary;
  while (!reader.done()) {
    const std::string& word = reader.next();
    if (word == "--expect") {
      summary.expect = number_of(word, reader.value(word));
    } else if (word == "--max-per") {
      summary.span = parse_duration(reader.value(word));
      if (!summary.span) throw std::invalid_argument("--max-per: not a duration");
    } else if (word == "--ignore-refused") {
      summary.ignore_refused = true;
    } else if (word.starts_with("--")) {
      throw std::invalid_argument("unknown option " + word);
    } else {
      summary.files.push_back(word);
    }
  }
  if (summary.files.empty()) throw std::invalid_argument("--summary wants a log file");
  return summary;
}

void check(const ServerSettings& settings) {
  const bool encrypted = settings.tls || settings.starttls;
  const TlsSettings& tls = settings.certificate;
  if (encrypted && tls.self_signed.empty() && (tls.certificate.empty() || tls.key.empty())) {
    throw std::invalid_argument("TLS wants --self-signed DIR, or --cert and --key");
  }
  if (settings.starttls && !settings.smtp) throw std::invalid_argument("--starttls is for --protocol smtp");
  if (settings.starttls && settings.tls) throw std::invalid_argument("--tls and --starttls exclude each other");
}

}  // namespace

CommandLine parse_command_line(const Words& words) {
  CommandLine line;
  Reader reader(words);
  while (!reader.done()) {
    const std::string& word = reader.next();
    if (word == "--help" || word == "-h") {
      line.help = true;
    } else if (word == "--summary") {
      line.summary = parse_summary(reader);
    } else if (const auto option = valued_options().find(word); option != valued_options().end()) {
      option->second(line.server, reader.value(word));
    } else if (!set_switch(line.server, word)) {
      throw std::invalid_argument("unknown option " + word);
    }
  }
  if (!line.summary && !line.help) check(line.server);
  return line;
}

std::string help_text() {
  std::string text =
      "vendor_stub [--listen 127.0.0.1:0] [--port-file F] [--protocol http|smtp] [--log F] [--no-body]\n"
      "            [--all-headers] [--mode SPEC] [--rules F] [--rule LINE] [--fail P:SPEC]\n"
      "            [--latency 30ms±10ms[,normal|uniform]] [--seed N] [--ok-body TEXT] [--no-path-modes]\n"
      "            [--no-continue] [--tls|--starttls] [--cert F --key F | --self-signed DIR]\n"
      "            [--cert-kind good|wrong-host|expired|future|unknown-ca] [--no-h2] [--h2-streams N]\n"
      "            [--control 127.0.0.1:0] [--control-port-file F] [--parent-death] [--vendor 'NAME key=value…']\n"
      "vendor_stub --summary LOG… [--expect N] [--max-per 60s] [--ignore-refused]\n\nmodes\n";
  for (const Mode& mode : all_modes()) {
    std::string name(mode.name);
    for (const std::string_view argument : mode.arguments) name += "[:" + std::string(argument) + "]";
    name.resize(std::max<std::size_t>(name.size() + 1, 30), ' ');
    text += "  " + name + std::string(mode.help) + "\n";
  }
  return text;
}

}  // namespace stub
