// Results as JSON, with what the input's objects had besides.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "formats/json/members.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

// The object in one line, after further members as they are spelled, but for those that it has itself.
inline std::string object_line(const nlohmann::ordered_json& object, const std::string& more) {
  std::vector<std::string> own;
  for (const auto& [name, value] : object.items()) own.push_back(name);
  const std::string others = more.empty() ? "" : formats::members_except("{" + more + "}", own);
  const std::string line = json_line(object);
  return others.empty() ? line : "{" + printable_json(others) + "," + line.substr(1);
}

}  // namespace heddle
