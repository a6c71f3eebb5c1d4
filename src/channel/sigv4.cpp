#include "channel/sigv4.hpp"

#include <algorithm>

#include "core/crypto.hpp"
#include "core/time_text.hpp"

namespace notify {
namespace {

std::string hex_digest(std::string_view text) {
  Sha256Hasher hasher;
  hasher.update(text);
  return to_hex(bytes_of(hasher.finish()));
}

// Without blanks around it, and one blank for each run of them inside.
std::string canonical_value(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string amz_date(Instant now) {
  std::string text = format_time(now).substr(0, 19);  // 2015-08-30T12:36:00
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text + "Z";
}

std::string sigv4_authorization(const AwsKey& key, std::string_view method, std::string_view path,
                                std::vector<std::pair<std::string, std::string>> headers, std::string_view body,
                                Instant now) {
  std::sort(headers.begin(), headers.end());
  std::string lines;
  std::string names;
  for (const auto& [name, value] : headers) {
    lines.append(name).append(":").append(canonical_value(value)).append("\n");
    names.append(names.empty() ? "" : ";").append(name);
  }
  std::string request(method);
  request.append("\n").append(path).append("\n\n").append(lines).append("\n").append(names).append("\n");
  request += hex_digest(body);

  const std::string date = amz_date(now);
  const std::string day = date.substr(0, 8);
  const std::string scope = day + "/" + key.region + "/" + key.service + "/aws4_request";
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + date + "\n" + scope + "\n" + hex_digest(request);
  const std::string day_key = hmac_sha256_text("AWS4" + key.secret, day);
  const std::string signing_key =
      hmac_sha256_text(hmac_sha256_text(hmac_sha256_text(day_key, key.region), key.service), "aws4_request");
  return "AWS4-HMAC-SHA256 Credential=" + key.id + "/" + scope + ", SignedHeaders=" + names +
         ", Signature=" + to_hex(hmac_sha256_text(signing_key, to_sign));
}

}  // namespace notify
