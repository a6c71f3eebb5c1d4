#include "cmd/receipt_recipe.hpp"

#include <set>
#include <variant>

#include "channel/http_settings.hpp"
#include "cmd/input.hpp"
#include "core/ascii.hpp"
#include "core/near_miss.hpp"
#include "core/recipe_receipt.hpp"
#include "core/ses_events.hpp"
#include "sys/files.hpp"
#include "sys/secrets.hpp"

namespace notify {
namespace {

constexpr std::string_view kHeader = "header.";
constexpr std::size_t kLongestCertificate = 64 * 1024;

void add_headers(const RecipeText& text, std::set<std::string>& names) {
  for (const RecipePiece& piece : text)
    if (piece.place && piece.place->root == RecipeRoot::kReceived && piece.place->path.starts_with(kHeader))
      names.insert(lowered(piece.place->path.substr(kHeader.size())));
}

// The headers that the recipe looks at, and no others.
std::set<std::string> headers_of(const RecipeReceipt& receipt) {
  std::set<std::string> names;
  const auto add = [&](const RecipeSource& source) {
    if (!source.header.empty()) names.insert(source.header);
  };
  for (const RecipeReceiptSignature& way : receipt.signatures) {
    for (const RecipeTest& test : way.match.tests) add(test.source);
    add(way.source);
    add_headers(way.prefix, names);
    add_headers(way.made.text, names);
  }
  return names;
}

// RFC 3875 4.1.18: "X-Signature" is in HTTP_X_SIGNATURE.
std::string variable_of(const std::string& header) {
  std::string name = "HTTP_";
  for (const char c : header) name += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

// The name of a channel's recipe, or the end of its path: `--format my-vendor` for "recipes/my-vendor.toml".
bool is_called(const HttpDriverConfig& driver, const std::string& recipe) {
  const std::string& name = driver.recipe_name;
  return name == recipe || name == recipe + ".toml" || name.ends_with("/" + recipe) ||
         name.ends_with("/" + recipe + ".toml");
}

// The native driver whose vendor's reports are read, too.
constexpr std::string_view kSes = "ses";

bool reads(const ChannelConfig& channel, const std::string& format) {
  if (std::holds_alternative<SesDriverConfig>(channel.driver)) return format == kSes;
  const auto* driver = std::get_if<HttpDriverConfig>(&channel.driver);
  return driver != nullptr && is_called(*driver, format);
}

Result<RecipeReceipts> read_by_recipe(const HttpDriverConfig& driver, std::string body, const std::string& source,
                                      Context& context) {
  RecipeReceived received;
  received.body = std::move(body);
  received.url = context.environment()("NOTIFYCTL_RECEIPT_URL").value_or("");
  if (driver.recipe->receipt)
    for (const std::string& header : headers_of(*driver.recipe->receipt))
      if (auto value = context.environment()(variable_of(header).c_str()))
        received.headers.emplace_back(header, *value);
  return read_receipts(*driver.recipe, setting_values(driver), source, std::move(received));
}

Result<RecipeReceipts> read_by_driver(const SesDriverConfig& driver, const std::string& body) {
  SnsProof proof{driver.sns_topic, {}};
  if (!driver.sns_topic.empty()) {
    auto certificate = read_file(driver.sns_certificate, kLongestCertificate);
    if (!certificate) return fail(Code::kConfig, "sns_certificate: " + certificate.error().message);
    proof.certificate = std::move(*certificate);
  }
  return read_ses_events(body, proof);
}

}  // namespace

Result<const ChannelConfig*> receipt_channel(const Config& config, const std::string& format,
                                             const std::string& channel) {
  const ChannelConfig* found = nullptr;
  std::vector<std::string> known{"jsonl", "csv"};
  for (const ChannelConfig& each : config.channels) {
    if (const auto* driver = std::get_if<HttpDriverConfig>(&each.driver)) known.push_back(driver->recipe_name);
    if (!reads(each, format) || (!channel.empty() && each.name != channel)) continue;
    if (found != nullptr)
      return fail(Code::kUsage, "several channels are of " + format, "say which one with --channel NAME");
    found = &each;
  }
  if (found != nullptr) return found;
  if (format == kSes)
    return fail(Code::kUsage, "--format: no channel " + (channel.empty() ? "" : channel + " ") + "has the driver ses");
  std::string hint = did_you_mean(format, known);
  if (hint.empty()) hint = "--format is jsonl, csv, ses, or the recipe of a configured channel";
  return fail(Code::kUsage,
              "--format: no channel " + (channel.empty() ? "" : channel + " ") + "has the recipe " + format,
              std::move(hint));
}

Result<void> import_posted_receipts(const std::string& file, ChannelConfig channel, const std::string& source,
                                    Reconciler& reconciler, Context& context) {
  TRY_ASSIGN(Input input, Input::open(file, context));
  TRY_ASSIGN(std::string body, read_whole(input, kLongestReceiptBody));
  Result<RecipeReceipts> read = RecipeReceipts{};
  if (const auto* ses = std::get_if<SesDriverConfig>(&channel.driver)) {
    read = read_by_driver(*ses, body);
  } else {
    TRY(load_secrets(channel, context.environment()));
    read = read_by_recipe(std::get<HttpDriverConfig>(channel.driver), std::move(body), source, context);
  }
  if (!read) return fail(with_context(std::move(read).error(), input.name()));
  for (const auto& [number, error] : read->bad) {
    ++reconciler.summary().rejected;
    report_line(context, context.err(), input.name(), static_cast<std::int64_t>(number), error);
  }
  for (Receipt& receipt : read->receipts) receipt.channel = channel.name;
  return read->receipts.empty() ? Result<void>() : reconciler.take(read->receipts);
}

}  // namespace notify
