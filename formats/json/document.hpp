// An untrusted JSON document, in memory bounded by its length: the text, in which strings are unescaped in place, and
// 16 bytes for each value and key, which are counted before any is allocated.
//
// An object that has a key twice is refused, because programs differ in which of the two they use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::formats {

class JsonDocument {
 public:
  enum class Kind : std::uint8_t { null, yes, no, number, text, list, object };

  // Values are in the order of the text, each before the values that it contains, and a key before its value.
  struct Value {
    Kind kind;
    std::uint32_t size;  // text and numbers: bytes; lists and objects: the place after their last part
    std::uint64_t at;    // text and numbers: offset in the text; lists and objects: number of members
  };

  // The text begins at this byte, from 1, of this line. Throws DataError, "FILE:LINE: not valid JSON, at byte N of the
  // line", also for values nested too deeply, numbers outside the range of doubles and repeated keys.
  JsonDocument(std::string text, std::string_view file, Index first_line = 1, std::size_t first_byte = 1);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  const std::string& file() const { return file_; }
  // The first is the whole document.
  const std::vector<Value>& values() const { return values_; }
  // The characters of text, or the digits of a number.
  std::string_view characters(const Value& value) const { return std::string_view(text_).substr(value.at, value.size); }

 private:
  std::string file_, text_;
  std::vector<Value> values_;
};

// The index of the value that follows this one and all of its parts.
inline std::size_t next_of(const std::vector<JsonDocument::Value>& values, std::size_t index) {
  using Kind = JsonDocument::Kind;
  const JsonDocument::Value& value = values[index];
  return value.kind == Kind::list || value.kind == Kind::object ? value.size : index + 1;
}

}  // namespace heddle::formats
