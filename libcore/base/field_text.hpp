// The values of fields as text, the way command lines, INI files and settings of kinds write them.
#pragma once

#include <string>
#include <type_traits>

#include "libcore/base/values.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

namespace detail {

// The number that the text spells or, for a word such as "auto", stands for. Throws UsageError, which names the range,
// for numbers out of range and for any other text.
Index parse_index_in_range(const Field& field, std::string_view text);
double parse_number_in_range(const Field& field, std::string_view text);

}  // namespace detail

// The value that the text spells. Throws UsageError, without the field's name, for texts of another type or range.
template <class T>
T parse_field(const Field& field, const std::string& text) {
  if constexpr (std::same_as<T, bool>) {
    return parse_bool(text);
  } else if constexpr (std::same_as<T, Index>) {
    return detail::parse_index_in_range(field, text);
  } else if constexpr (std::same_as<T, double>) {
    return detail::parse_number_in_range(field, text);
  } else if constexpr (NamedEnumeration<T>) {
    field.check_text(text);
    return from_text<T>(text);
  } else if constexpr (Textual<T>) {
    return T::from_text(text);
  } else {
    static_assert(std::same_as<T, std::string>, "base/visit.hpp lists the types that a field can have");
    check<UsageError>(!field.filled || !text.empty(), "the ", field.placeholder, " is empty");
    field.check_text(text);
    return text;
  }
}

// The text that parse_field() reads as this value.
template <class T>
std::string field_text(const Field& field, const T& value) {
  if constexpr (NamedEnumeration<T>) {
    return to_text(value);
  } else if constexpr (Textual<T>) {
    return value.text();
  } else if constexpr (std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::same_as<T, bool>) {
    return format(value);
  } else if constexpr (IsVector<T>::value) {
    std::vector<std::string> texts;
    for (const auto& element : value) texts.push_back(escape_element(field_text(field, element)));
    return join(texts, ",");
  } else {
    const std::string* const word = field.word_for(static_cast<double>(value));
    return word != nullptr ? *word : format(value);
  }
}

}  // namespace heddle
