// Small text helpers: numbers, durations, quoting, globbing and the JSON writer.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stub {

using Nanos = std::chrono::nanoseconds;

std::optional<std::uint64_t> parse_number(std::string_view text);
std::optional<double> parse_real(std::string_view text);

// "3" and "3s" are seconds; also "30ms", "500us", "2m", "1h", with a fraction if wanted.
std::optional<Nanos> parse_duration(std::string_view text);

bool same_ignoring_case(std::string_view a, std::string_view b);
std::string to_lower(std::string_view text);

// '*' stands for any run of characters; everything else is literal.
bool glob(std::string_view pattern, std::string_view text);

// Splits at blanks. 'single quotes' are raw; "double quotes" and bare words know \n \r \t \s \\ \" \' \xHH.
std::vector<std::string> split_words(std::string_view line);

std::string percent_decode(std::string_view text, bool plus_is_space);
std::string hex_decode(std::string_view text);
std::string http_date(std::time_t when);

bool valid_utf8(std::string_view bytes);
void append_number(std::string& out, std::uint64_t value);
void append_base64(std::string& out, std::string_view bytes);

// Appends a quoted JSON string. Bytes that are not UTF-8 become \u00XX one by one.
void append_json_string(std::string& out, std::string_view bytes);

// Appends ,"name":"value" or, where value is not UTF-8, ,"name_b64":"…" so that no byte is lost.
void append_json_bytes(std::string& out, std::string_view name, std::string_view value);

std::string read_file(const std::string& path);

// Readers never see half a file: written beside it and renamed. Mode is that of the new file.
void write_file_atomically(const std::string& path, std::string_view content, unsigned mode);

}  // namespace stub
