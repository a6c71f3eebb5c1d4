#pragma once

// Strict reading of JSON text, front to back, without building a tree. The only user of simdjson.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace notify {

class JsonReader;

// One value while its reader stands on it. Look at it once, by one of the functions below, inside the visitor
// that got it: what nobody looks at is not checked.
class JsonValue {
 public:
  enum class Kind { kObject, kArray, kString, kNumber, kBool, kNull };
  using MemberVisitor = std::function<Result<void>(std::string_view name, JsonValue& value)>;

  // What it is. Numbers, true, false and null have been checked after this.
  Result<Kind> kind();

  // Its decoded text; the value must be a string, else the error's field is `field`. Valid UTF-8, may hold
  // NUL.
  Result<std::string_view> string(std::string_view field);
  // A number or boolean as it is written.
  Result<std::string_view> scalar(std::string_view field);
  // Visits the members of an object, in order, duplicates included.
  Result<void> members(std::string_view field, const MemberVisitor& visit);
  // Visits the elements of an array, in order.
  Result<void> elements(std::string_view field, const std::function<Result<void>(JsonValue&)>& visit);
  // An object of strings, numbers and booleans as pairs sorted by name. null, nested values and duplicate
  // names are errors in the field "<field>.<name>".
  Result<void> flat_object(std::string_view field, std::vector<std::pair<std::string_view, std::string_view>>& out);
  // Appends its canonical form: members sorted by the bytes of their names, no white space, strings with the
  // fewest escapes, numbers as written. Duplicate names are errors in `field`.
  Result<void> canonical(std::string_view field, std::string& out);

 private:
  friend class JsonReader;
  JsonValue(JsonReader& reader, void* value, std::size_t depth) : reader_(reader), value_(value), depth_(depth) {}

  JsonReader& reader_;
  void* value_;        // simdjson::ondemand::value
  std::size_t depth_;  // of the containers around it
};

// Reads one text after the other and reuses its memory. All views that come out of it are valid until the
// next text. Errors have code kBadInput; those about the text's form say at which byte (from 1). Never
// throws.
class JsonReader {
 public:
  JsonReader();
  ~JsonReader();
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  // The text must be one object (white space around it is fine).
  Result<void> object(std::string_view text, const JsonValue::MemberVisitor& visit);
  // The text may be any value. `around`: how many containers it will be put into; they count as depth.
  Result<void> value(std::string_view text, std::size_t around, const std::function<Result<void>(JsonValue&)>& visit);

 private:
  friend class JsonValue;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace notify
