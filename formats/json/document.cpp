#include "formats/json/document.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

using Value = JsonDocument::Value;
using Kind = JsonDocument::Kind;

constexpr int most_depth = 128;
constexpr std::size_t most_in_document = std::numeric_limits<std::uint32_t>::max();  // bytes, and values

struct Extent {
  int depth = 0;           // nesting depth of objects and lists
  std::size_t values = 1;  // and keys, or more
};

// Counts outside of strings, assuming that the text is JSON: values begin at the start or after brackets, commas,
// colons.
Extent extent_of(std::string_view text) {
  Extent extent;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_string && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      const bool opens = letter == '{' || letter == '[';
      depth += opens - (letter == '}' || letter == ']');
      extent.depth = std::max(extent.depth, depth);
      extent.values += opens || letter == ',' || letter == ':';
    }
  }
  return extent;
}

class Parser {
 public:
  Parser(std::string& text, std::vector<Value>& values, std::string_view file, Index line, std::size_t byte)
      : text_(text), values_(values), file_(file), line_(line), bytes_before_(byte - 1) {}

  void parse() {
    at_ = line_begin_ = text_.size() - without_byte_order_mark(text_).size();
    parse_value();
    skip_blanks();
    if (at_ != text_.size()) fail();
  }

 private:
  // NUL at the end, which no part of JSON begins with or contains.
  char letter() const { return text_.c_str()[at_]; }

  [[noreturn]] void fail(std::string_view reason = "") const {
    throw DataError(concatenate(file_, ":", line_, ": not valid JSON, at byte ", bytes_before_ + at_ - line_begin_ + 1,
                                " of the line", reason));
  }
  [[noreturn]] void fail_of_surrogate() const {
    fail(": half of a surrogate pair, as of a cut emoji; \\ufffd can stand for it");
  }

  void skip_blanks() {
    for (;; ++at_) {
      if (letter() == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
        bytes_before_ = 0;
      } else if (letter() != ' ' && letter() != '\t' && letter() != '\r') {
        return;
      }
    }
  }

  bool take(char wanted) {
    skip_blanks();
    if (letter() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail();
  }

  void parse_value() {
    skip_blanks();
    switch (letter()) {
      case '{':
        return parse_members(Kind::object, '}');
      case '[':
        return parse_members(Kind::list, ']');
      case '"':
        return parse_string();
      case 't':
        return parse_word("true", Kind::yes);
      case 'f':
        return parse_word("false", Kind::no);
      case 'n':
        return parse_word("null", Kind::null);
      default:
        refuse_special_number();
        return parse_number();
    }
  }

  void parse_members(Kind kind, char end) {
    ++at_;
    const std::size_t index = values_.size();
    values_.push_back({kind, 0, 0});
    std::uint64_t members = 0;
    if (!take(end)) {
      do {
        if (kind == Kind::object) parse_key();
        parse_value();
        ++members;
      } while (take(','));
      expect(end);
    }
    values_[index] = {kind, static_cast<std::uint32_t>(values_.size()), members};
    if (kind == Kind::object) check_keys(index);
  }

  void parse_key() {
    skip_blanks();
    if (letter() != '"') fail();
    parse_string();
    expect(':');
  }

  std::string_view key(std::uint32_t index) const {
    return std::string_view(text_).substr(values_[index].at, values_[index].size);
  }

  void check_keys(std::size_t object) {
    keys_.clear();
    for (std::size_t i = object + 1; i < values_.size(); i = next_of(values_, i + 1)) {
      keys_.push_back(static_cast<std::uint32_t>(i));
    }
    std::ranges::sort(keys_, {}, [this](std::uint32_t index) { return key(index); });
    const auto twice = std::ranges::adjacent_find(keys_, {}, [this](std::uint32_t index) { return key(index); });
    if (twice == keys_.end()) return;
    throw DataError(concatenate(file_, ":", line_, ": the object that ends in this line repeats the key ",
                                text::quoted(key(*twice))));
  }

  void parse_word(std::string_view word, Kind kind) {
    if (!std::string_view(text_).substr(at_).starts_with(word)) fail();
    values_.push_back({kind, static_cast<std::uint32_t>(word.size()), at_});
    at_ += word.size();
  }

  // Python's spellings of numbers that JSON lacks.
  void refuse_special_number() const {
    const std::string_view rest = std::string_view(text_).substr(at_);
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (rest.starts_with(word)) fail(concatenate(": JSON has no ", word, "; null can stand for it"));
    }
  }

  void take_digits() {
    const auto is_digit = [this] { return letter() >= '0' && letter() <= '9'; };
    if (!is_digit()) fail();
    while (is_digit()) ++at_;
  }

  void parse_number() {
    const std::size_t begin = at_;
    at_ += letter() == '-';
    if (letter() == '0') {
      ++at_;
    } else {
      take_digits();
    }
    if (letter() == '.') {
      ++at_;
      take_digits();
    }
    if (letter() == 'e' || letter() == 'E') {
      ++at_;
      at_ += letter() == '+' || letter() == '-';
      take_digits();
    }
    check<DataError>(std::isfinite(std::strtod(text_.c_str() + begin, nullptr)), file_, ":", line_,
                     ": a number is too large");
    values_.push_back({Kind::number, static_cast<std::uint32_t>(at_ - begin), begin});
  }

  // Unescaped text is never longer than as it was written.
  void parse_string() {
    const std::size_t begin = ++at_;
    std::size_t end = begin;
    while (letter() != '"') {
      if (static_cast<unsigned char>(letter()) < 0x20) fail();
      if (letter() == '\\') {
        ++at_;
        end = unescape(end);
      } else {
        text_[end++] = text_[at_++];
      }
    }
    const std::string_view string = std::string_view(text_).substr(begin, end - begin);
    if (!is_utf8(string)) fail();
    ++at_;
    values_.push_back({Kind::text, static_cast<std::uint32_t>(string.size()), begin});
  }

  // Writes the unescaped character to text_[to], …; returns the place after it.
  std::size_t unescape(std::size_t to) {
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (letter() == 'u') {
      std::string bytes;
      text::append_utf8(bytes, unescape_code());
      text_.replace(to, bytes.size(), bytes);
      return to + bytes.size();
    }
    const std::size_t which = names.find(letter());
    if (which == names.npos) fail();
    text_[to] = meanings[which];
    ++at_;
    return to + 1;
  }

  // The code point of uXXXX, or of a surrogate pair.
  char32_t unescape_code() {
    const char32_t code = hexadecimal_after_u();
    const bool high = code >= 0xD800 && code < 0xDC00, low = code >= 0xDC00 && code < 0xE000;
    if (low) fail_of_surrogate();
    if (!high) return code;
    if (letter() != '\\') fail_of_surrogate();
    ++at_;
    const char32_t second = letter() == 'u' ? hexadecimal_after_u() : 0;
    if (second < 0xDC00 || second >= 0xE000) fail_of_surrogate();
    return 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
  }

  char32_t hexadecimal_after_u() {
    constexpr std::size_t digits = 4;
    ++at_;
    unsigned code = 0;
    const char* const begin = text_.c_str() + at_;
    const char* const end = begin + std::min(digits, text_.size() - at_);
    const auto [stop, error] = std::from_chars(begin, end, code, 16);
    if (error != std::errc() || stop != begin + digits) fail();
    at_ += digits;
    return code;
  }

  std::string& text_;
  std::vector<Value>& values_;
  std::string_view file_;
  Index line_;
  std::size_t bytes_before_;  // the text, on its first line
  std::size_t at_ = 0, line_begin_ = 0;
  std::vector<std::uint32_t> keys_;  // keys of the object that has just ended
};

}  // namespace

JsonDocument::JsonDocument(std::string text, std::string_view file, Index first_line, std::size_t first_byte)
    : file_(file), text_(std::move(text)) {
  check<DataError>(text_.size() <= most_in_document, file, ":", first_line, ": ", text_.size(),
                   " bytes are too many for JSON");
  const Extent extent = extent_of(text_);
  // Parsing and printing a value use a stack frame for each level.
  check<DataError>(extent.depth <= most_depth, file, ":", first_line, ": not valid JSON, or of more than ", most_depth,
                   " levels of objects and lists");
  check<DataError>(extent.values <= most_in_document, file, ":", first_line, ": ", extent.values,
                   " values are too many");
  values_.reserve(extent.values);
  Parser(text_, values_, file_, first_line, first_byte).parse();
}

}  // namespace heddle::formats
