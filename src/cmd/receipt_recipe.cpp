#include "cmd/receipt_recipe.hpp"

#include <set>
#include <variant>

#include "channel/http_settings.hpp"
#include "cmd/input.hpp"
#include "core/near_miss.hpp"
#include "core/recipe_receipt.hpp"
#include "sys/secrets.hpp"

namespace notify {
namespace {

constexpr std::string_view kHeader = "header.";

void add_headers(const RecipeText& text, std::set<std::string>& names) {
  for (const RecipePiece& piece : text)
    if (piece.place && piece.place->root == RecipeRoot::kReceived && piece.place->path.starts_with(kHeader))
      names.insert(piece.place->path.substr(kHeader.size()));
}

// The headers that the recipe looks at, and no others.
std::set<std::string> headers_of(const RecipeReceipt& receipt) {
  std::set<std::string> names;
  if (!receipt.signature) return names;
  if (!receipt.signature->source.header.empty()) names.insert(receipt.signature->source.header);
  add_headers(receipt.signature->prefix, names);
  if (receipt.signature->hmac) add_headers(receipt.signature->hmac->text, names);
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

}  // namespace

Result<const ChannelConfig*> receipt_channel(const Config& config, const std::string& recipe,
                                             const std::string& channel) {
  const ChannelConfig* found = nullptr;
  std::vector<std::string> known{"jsonl", "csv"};
  for (const ChannelConfig& each : config.channels) {
    const auto* driver = std::get_if<HttpDriverConfig>(&each.driver);
    if (driver == nullptr) continue;
    known.push_back(driver->recipe_name);
    if (!is_called(*driver, recipe) || (!channel.empty() && each.name != channel)) continue;
    if (found != nullptr)
      return fail(Code::kUsage, "several channels have the recipe " + recipe, "say which one with --channel NAME");
    found = &each;
  }
  if (found != nullptr) return found;
  std::string hint = did_you_mean(recipe, known);
  if (hint.empty()) hint = "--format is jsonl, csv, or the recipe of a configured channel";
  return fail(Code::kUsage,
              "--format: no channel " + (channel.empty() ? "" : channel + " ") + "has the recipe " + recipe,
              std::move(hint));
}

Result<void> import_recipe_receipts(const std::string& file, ChannelConfig channel, const std::string& source,
                                    Reconciler& reconciler, Context& context) {
  TRY(load_secrets(channel, context.environment()));
  const auto& driver = std::get<HttpDriverConfig>(channel.driver);
  RecipeReceived received;
  TRY_ASSIGN(Input input, Input::open(file, context));
  TRY_ASSIGN(received.body, read_whole(input, kLongestReceiptBody));
  received.url = context.environment()("NOTIFYCTL_RECEIPT_URL").value_or("");
  if (driver.recipe->receipt)
    for (const std::string& header : headers_of(*driver.recipe->receipt))
      if (auto value = context.environment()(variable_of(header).c_str()))
        received.headers.emplace_back(header, *value);

  Result<RecipeReceipts> read = read_receipts(*driver.recipe, setting_values(driver), source, std::move(received));
  if (!read) return fail(with_context(std::move(read).error(), input.name()));
  for (const auto& [number, error] : read->bad) {
    ++reconciler.summary().rejected;
    report_line(context, context.err(), input.name(), static_cast<std::int64_t>(number), error);
  }
  for (Receipt& receipt : read->receipts) receipt.channel = channel.name;
  return read->receipts.empty() ? Result<void>() : reconciler.take(read->receipts);
}

}  // namespace notify
