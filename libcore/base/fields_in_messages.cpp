#include "libcore/base/fields_in_messages.hpp"

namespace heddle {

namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view further = "abcdefghijklmnopqrstuvwxyz0123456789_";

}  // namespace

std::optional<FieldName> next_field_name(std::string_view text, std::size_t from) {
  for (std::size_t begin = text.find('`', from); begin != text.npos; begin = text.find('`', begin + 1)) {
    const std::size_t end = text.find_first_not_of(further, begin + 1);
    if (end == text.npos) return std::nullopt;
    const std::string_view name = text.substr(begin + 1, end - begin - 1);
    const bool begins_word = begin == 0 || std::string_view(" (\n\t").find(text[begin - 1]) != text.npos;
    if (begins_word && text[end] == '`' && !name.empty() && letters.find(name.front()) != letters.npos) {
      return FieldName{begin, end + 1, name};
    }
  }
  return std::nullopt;
}

std::string plain_field_names(std::string_view text) {
  std::string plain;
  std::size_t at = 0;
  while (const auto field = next_field_name(text, at)) {
    plain.append(text.substr(at, field->begin - at)).append(field->name);
    at = field->end;
  }
  return plain.append(text.substr(at));
}

}  // namespace heddle
