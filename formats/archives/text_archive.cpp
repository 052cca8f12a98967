#include "formats/archives/text_archive.hpp"

#include <array>
#include <charconv>

namespace heddle::formats {

std::string text_of(bool value) {
  return value ? "true" : "false";
}

std::string text_of(Index value) {
  return std::to_string(value);
}

std::string text_of(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

void TextOutputArchive::open(const char* name) {
  if (!text_->empty()) *text_ += '\n';
  *text_ += "# " + Field(name, "").option() + "\n";
}

void TextOutputArchive::add_line(std::string_view name, const std::string& value) {
  *text_ += Field(std::string(name), "").option() + " = " + value + "\n";
}

}  // namespace heddle::formats
