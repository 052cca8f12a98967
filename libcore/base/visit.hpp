// The visit protocol: a struct describes its fields once, and everything else walks the description: command-line
// options, help, man pages, configuration files, HDF5 archives, text and JSON printing.
//
//   struct Options {
//     Index layers = 4;
//     Activation activation = Activation::gelu;
//     template <class Self, class Visitor>
//     static void visit(Self& self, Visitor& visitor) {
//       visitor(Field("layers", "number of blocks").range(1, 1000), self.layers);
//       visitor(Field("activation", "non-linearity of the feed-forward layers"), self.activation);
//     }
//   };
//
// A field is a bool, Index, double, std::string, an enumeration with Names, a Textual value, a std::vector of Index,
// double or std::string, or another such struct (a section: a group of options, a group in a file).
// Names are snake_case, as files and JSON have them; options write them with dashes. A help text writes the names of
// other fields as fields_in_messages.hpp has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

struct NameHelp;

struct Field {
  std::string name;
  std::string help;
  std::string placeholder;  // placeholder for the value in help: N, FILE, RATE
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool above_minimum = false;       // the minimum itself is not allowed
  char short_option = 0;            // the letter of -o, or none
  std::vector<std::string> needed;  // fields of the same options, one of which must be set; see needs()
  bool filled = false;              // an empty text is refused
  std::string bare;  // the value of the option given without one; a value must then be attached: name=VALUE
  std::vector<std::string> texts;                     // allowed texts; others are refused
  bool completes = false;                             // when set, missing fields are completed from elsewhere
  bool is_essential = false;                          // most people need it: short help shows it
  bool may_change = false;                            // a run may be resumed with another value
  bool is_computed = false;                           // the program sets it: files hold it, and it is no option
  bool is_initial = false;                            // it says how training begins, and nothing of what is trained
  bool is_content = false;                            // a file, which runs know by its content
  std::vector<std::pair<double, std::string>> words;  // numbers that are written as words
  std::vector<std::string> former_names;              // for messages to people who use them
  const std::vector<NameHelp>& (*names)() = nullptr;  // for values NAME[:KEY=VALUE,...]: the list, for help

  Field(std::string field_name, std::string field_help) : name(std::move(field_name)), help(std::move(field_help)) {}
  Field&& range(double low, double high = std::numeric_limits<double>::infinity()) && {
    minimum = low;
    maximum = high;
    return std::move(*this);
  }
  Field&& above(double low, double high = std::numeric_limits<double>::infinity()) && {
    above_minimum = true;
    return std::move(*this).range(low, high);
  }
  Field&& takes(std::string text) && {
    placeholder = std::move(text);
    return std::move(*this);
  }
  Field&& letter(char character) && {
    short_option = character;
    return std::move(*this);
  }

  // The number has no meaning as a number, and this text in its place, on command lines and in what people read. It may
  // lie outside the range. Files store the number.
  Field&& word(double number, std::string text) && {
    words.emplace_back(number, std::move(text));
    return std::move(*this);
  }
  Field&& essential() && {
    is_essential = true;
    return std::move(*this);
  }
  // A run that is resumed may have another value of it.
  Field&& changeable() && {
    may_change = true;
    return std::move(*this);
  }
  // A setting of a kind that the program sets. Files store it and tools show it, but no option does.
  Field&& computed() && {
    is_computed = true;
    return std::move(*this);
  }
  // Trained models that differ in it alone compute the same.
  Field&& initial() && {
    is_initial = true;
    return std::move(*this);
  }
  // A file may move: runs are compared by what it holds, which is one of their inputs.
  Field&& by_content() && {
    is_content = true;
    return std::move(*this);
  }
  Field&& formerly(std::string old_name) && {
    former_names.push_back(std::move(old_name));
    return std::move(*this);
  }

  // The field has no effect unless one of these fields is set, or has the value of "NAME=VALUE". For a section, this
  // holds for all its fields.
  Field&& needs(std::vector<std::string> any_of) && {
    needed = std::move(any_of);
    return std::move(*this);
  }
  Field&& not_empty() && {
    filled = true;
    return std::move(*this);
  }
  Field&& one_of(std::vector<std::string> all) && {
    texts = std::move(all);
    return std::move(*this);
  }
  Field&& named_in(const std::vector<NameHelp>& (*list)()) && {
    names = list;
    return std::move(*this);
  }
  Field&& bare_value(std::string text) && {
    bare = std::move(text);
    return std::move(*this);
  }
  Field&& completes_others() && {
    completes = true;
    return std::move(*this);
  }

  // The name as an option has it: learning-rate.
  std::string option() const {
    std::string dashed = name;
    for (char& letter : dashed) {
      if (letter == '_') letter = '-';
    }
    return dashed;
  }

  bool in_range(double value) const {
    return !std::isnan(value) && (above_minimum ? value > minimum : value >= minimum) && value <= maximum;
  }
  // The word for the number, or null.
  const std::string* word_for(double value) const {
    for (const auto& [number, text] : words) {
      if (number == value) return &text;
    }
    return nullptr;
  }
  bool allows(double value) const { return in_range(value) || word_for(value) != nullptr; }

  // Throws UsageError, which lists the allowed texts, for another one.
  void check_text(const std::string& text) const {
    const bool known = texts.empty() || std::find(texts.begin(), texts.end(), text) != texts.end();
    check<UsageError>(known, not_one_of(text, texts));
  }

  // "at least 1", "more than 0", "from 0 to 1, or auto", "more than 0 and at most 1"; empty when everything is allowed.
  std::string range_text() const;
};

namespace detail {

// Whole numbers without an exponent: 1000000 instead of 1e+06.
inline std::string number_text(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? std::to_string(static_cast<Index>(value)) : concatenate(value);
}

}  // namespace detail

inline std::string Field::range_text() const {
  const std::string from = detail::number_text(minimum), to = detail::number_text(maximum);
  const bool low = std::isfinite(minimum), high = std::isfinite(maximum);
  std::string text;
  if (low && high) {
    text = above_minimum ? "more than " + from + " and at most " + to : "from " + from + " to " + to;
  } else if (low) {
    text = (above_minimum ? "more than " : "at least ") + from;
  } else if (high) {
    text = "at most " + to;
  }
  for (const auto& [number, word] : words) text += (text.empty() ? "a number, or " : ", or ") + word;
  return text;
}

// The texts of an enumeration, specialised beside it:
//   template <> struct Names<Activation> {
//     static constexpr std::pair<Activation, std::string_view> list[] = {{Activation::relu, "relu"}, …};
//   };
template <class Enumeration>
struct Names;

template <class T>
concept NamedEnumeration = std::is_enum_v<T> && requires {
  Names<T>::list;
};

// A value that is written as text everywhere: T::from_text(text) throws UsageError, and reads what text() gives.
template <class T>
concept Textual = requires(const T& value, std::string_view text) {
  { value.text() } -> std::convertible_to<std::string>;
  { T::from_text(text) } -> std::same_as<T>;
};

struct AnyVisitor {
  template <class T>
  void operator()(const Field&, T&) {}
};

template <class T>
concept Visitable = requires(T& object, AnyVisitor& visitor) {
  T::visit(object, visitor);
};

// Walks the fields of an object, constant or not.
template <class T, class Visitor>
void visit_fields(T& object, Visitor& visitor) {
  std::remove_const_t<T>::visit(object, visitor);
}

template <NamedEnumeration E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& entry : Names<E>::list) names.emplace_back(entry.second);
  return names;
}

template <NamedEnumeration E>
std::string to_text(E value) {
  for (const auto& entry : Names<E>::list) {
    if (entry.first == value) return std::string(entry.second);
  }
  throw Error("enumeration value without a name");
}

// Throws UsageError that lists the names.
template <NamedEnumeration E>
E from_text(std::string_view text) {
  for (const auto& entry : Names<E>::list) {
    if (entry.second == text) return entry.first;
  }
  throw UsageError(not_one_of(text, names_of<E>()));
}

namespace detail {

struct RangeChecker {
  std::string context;

  void check_text(const Field& field, const std::string& text) const {
    try {
      field.check_text(text);
    } catch (const UsageError& error) {
      throw UsageError(concatenate(context, "`", field.name, "`: ", error.what()));
    }
  }

  template <class T>
  void operator()(const Field& field, const T& value) {
    if constexpr (Visitable<T>) {
      visit_fields(value, *this);
    } else if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>) {
      check<UsageError>(field.allows(static_cast<double>(value)), context, "`", field.name, "` = ", value, " must be ",
                        field.range_text().empty() ? "a number" : field.range_text());
    } else if constexpr (std::same_as<T, std::string>) {
      if (!value.empty()) check_text(field, value);  // "" is a text that was not given
    }
  }
};

}  // namespace detail

// Throws UsageError for the first field outside its range or its list. Context ("model.h5: ") goes before the message.
template <Visitable T>
void check_ranges(const T& object, std::string context = "") {
  detail::RangeChecker checker{std::move(context)};
  visit_fields(object, checker);
}

}  // namespace heddle
