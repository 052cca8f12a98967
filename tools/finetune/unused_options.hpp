// The options that a mode of finetune does not use.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/finetune/options.hpp"

namespace heddle {

// The names of all fields but these, in whatever section.
inline std::vector<std::string> fields_besides(const FinetuneOptions& options, const std::set<std::string>& used) {
  std::vector<std::string> fields;
  const auto add = [&](const auto& self, const auto& object) -> void {
    auto visitor = [&]<class Value>(const Field& field, const Value& value) {
      if constexpr (Visitable<Value>) {
        self(self, value);
      } else if (!used.contains(field.name)) {
        fields.push_back(field.name);
      }
    };
    visit_fields(object, visitor);
  };
  add(add, options);
  return fields;
}

}  // namespace heddle
