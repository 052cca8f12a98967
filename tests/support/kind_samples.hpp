// Kinds with other settings than their defaults, whatever these are.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "libcore/base/kind.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle::testing {

// All of a kind as a user would write it.
template <class Common>
std::string text_of(const KindOf<Common>& kind) {
  std::string text = kind.name(), separator = ":";
  for (const FieldText& field : kind.settings()) {
    text += separator + field.field.option() + "=" + replaced(field.text, ",", "\\,");
    separator = ",";
  }
  return text;
}

// The kind with another value of a field: the first of some that it takes.
template <class Common>
KindOf<Common> with_another(const KindOf<Common>& kind, const FieldText& field) {
  std::vector<std::string> candidates = field.field.texts;
  for (const char* const text : {"true", "false", "0.30000000000000004", "0.1", "2.0000000000000004", "7", "3"}) {
    candidates.emplace_back(text);
  }
  for (const std::string& text : candidates) {
    KindOf<Common> other = kind;
    try {
      other.set(field.field.name, text);
    } catch (const UsageError&) {
      continue;
    }
    if (!(other == kind)) return other;
  }
  FAIL(concatenate("no other value of ", field.field.name));
  return kind;
}

// With other values of all fields.
template <class Common>
KindOf<Common> with_others(KindOf<Common> kind) {
  for (const FieldText& field : kind.settings()) kind = with_another(kind, field);
  return kind;
}

template <class Common>
std::vector<std::string> differing_fields(const KindOf<Common>& one, const KindOf<Common>& other) {
  std::vector<std::string> names;
  const std::vector<FieldText> first = one.fields(), second = other.fields();
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].text != second.at(i).text) names.push_back(first[i].field.name);
  }
  return names;
}

}  // namespace heddle::testing
