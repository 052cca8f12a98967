// From the options of a command to the run that it means.
#pragma once

#include <vector>

#include "tools/cli/arguments.hpp"
#include "tools/training/run_spec.hpp"

namespace heddle {

namespace detail {

// The fields of a struct and of its sections.
template <class T, class Visit>
void visit_plain_fields(T& object, const Visit& visit) {
  auto visitor = [&visit]<class Value>(const Field& field, Value& value) {
    if constexpr (Visitable<Value>) {
      visit_plain_fields(value, visit);
    } else {
      visit(field, value);
    }
  };
  visit_fields(object, visitor);
}

}  // namespace detail

// Sets the fields that the user gave to what was given.
template <Visitable T>
void take_given(T& target, const T& options, const cli::Arguments& arguments) {
  T given = options;
  std::vector<void*> values;
  detail::visit_plain_fields(given, [&](const Field&, auto& value) { values.push_back(&value); });
  std::size_t at = 0;
  detail::visit_plain_fields(target, [&]<class Value>(const Field& field, Value& value) {
    void* const option = values[at++];
    if (arguments.given(field.name)) value = *static_cast<Value*>(option);
  });
}

// Takes the options that the user gave; the others are those of `base`. Throws UsageError for options that do not go
// together.
RunSpec resolved(const LearningOptions& options, const RunSpec& base, const cli::Arguments& arguments);

}  // namespace heddle
