#include "formats/files/text_decoder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

const iconv_t no_converter = reinterpret_cast<iconv_t>(-1);

bool is_utf16_by_mark(std::string name) {
  std::ranges::transform(name, name.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return name == "utf-16" || name == "utf16";
}

// Names alone: a system may take suffixes that have it replace what it cannot convert.
bool may_be_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           std::string_view("-_.:+").find(letter) != std::string_view::npos;
  });
}

iconv_t converter_from(const std::string& encoding) {
  const iconv_t converter = may_be_name(encoding) ? ::iconv_open("UTF-8", encoding.c_str()) : no_converter;
  check<UsageError>(converter != no_converter, "'", encoding,
                    "' is not an encoding of this system, such as latin1, windows-1252 or utf-16; iconv -l lists them");
  return converter;
}

}  // namespace

TextDecoder::TextDecoder(std::string file, const std::string& encoding) : file_(std::move(file)), encoding_(encoding) {
  has_order_ = !is_utf16_by_mark(encoding);
  converter_ = converter_from(has_order_ ? encoding : "UTF-16LE");
}

TextDecoder::~TextDecoder() {
  ::iconv_close(converter_);
}

std::string TextDecoder::add(std::string_view bytes) {
  rest_ += bytes;
  if (!has_order_ && rest_.size() < 2) return "";
  if (!std::exchange(has_order_, true) && rest_.starts_with("\xFE\xFF")) {
    const iconv_t other = converter_from("UTF-16BE");
    ::iconv_close(std::exchange(converter_, other));
  }
  char* in = rest_.data();
  std::size_t left = rest_.size();
  std::string text = convert(&in, &left);
  rest_.erase(0, rest_.size() - left);
  return text;
}

std::string TextDecoder::finish() {
  if (!rest_.empty()) fail();
  return convert(nullptr, nullptr);  // flushes bytes held back because a mark might have followed
}

// Converts bytes up to an incomplete character.
std::string TextDecoder::convert(char** bytes, std::size_t* left) {
  std::string text;
  std::array<char, 1 << 14> room{};
  for (bool is_whole = false; !is_whole;) {
    char* out = room.data();
    std::size_t free = room.size();
    is_whole = ::iconv(converter_, bytes, left, &out, &free) != static_cast<std::size_t>(-1);
    const int problem = errno;
    text.append(room.data(), static_cast<std::size_t>(out - room.data()));
    if (is_whole || problem == E2BIG) continue;
    if (problem == EINVAL) break;
    line_ += std::ranges::count(text, '\n');
    fail();
  }
  line_ += std::ranges::count(text, '\n');
  return text;
}

void TextDecoder::fail() const {
  throw DataError(concatenate(file_, ":", line_, ": is not text in ", encoding_));
}

void check_encoding(const std::string& name) {
  ::iconv_close(converter_from(is_utf16_by_mark(name) ? "UTF-16LE" : name));
}

}  // namespace heddle::formats
