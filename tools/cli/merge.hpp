// Merges options of the command line with those of a preset, or with those that a file was made with.
#pragma once

#include <any>
#include <map>
#include <set>
#include <string>

#include "libcore/base/visit.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

namespace detail {

struct RememberFields {
  std::map<std::string, std::any> values;
  template <class T>
  void operator()(const Field& field, const T& value) {
    if constexpr (Visitable<T>) {
      visit_fields(value, *this);
    } else {
      values[field.name] = value;
    }
  }
};

template <class Visit>
struct CompareFields {
  const std::map<std::string, std::any>& values;
  Visit visit;
  template <class T>
  void operator()(const Field& field, T& value) {
    if constexpr (Visitable<T>) {
      visit_fields(value, *this);
    } else {
      visit(field, value, std::any_cast<const T&>(values.at(field.name)));
    }
  }
};

}  // namespace detail

// Calls visit(field, value, other) for each field of two structs of the same type.
template <Visitable T, class Visit>
void for_each_pair(T& object, const T& other, const Visit& visit) {
  detail::RememberFields remembered;
  visit_fields(other, remembered);
  detail::CompareFields<Visit> compare{remembered.values, visit};
  visit_fields(object, compare);
}

// Sets the options that the command line leaves out to the defaults.
template <Visitable T>
void merge(T& options, const T& defaults, const cli::Arguments& arguments) {
  for_each_pair(options, defaults, [&](const Field& field, auto& value, const auto& preset) {
    if (!arguments.given(field.name)) value = preset;
  });
}

// The same; throws UsageError for an option that the command line sets to something else than the file has, unless it
// is among those that may change.
template <Visitable T>
void take_over(T& options, const T& stored, const cli::Arguments& arguments, const std::string& path,
               const std::set<std::string>& may_change) {
  for_each_pair(options, stored, [&](const Field& field, auto& value, const auto& old) {
    const bool given = arguments.given(field.name);
    check<UsageError>(!given || value == old || may_change.contains(field.name), "--", field.option(),
                      " differs from what ", path,
                      " was trained with; leave it out to resume, or start a new run with another -o");
    if (!given) value = old;
  });
}

}  // namespace heddle
