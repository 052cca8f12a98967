// JSON for programs that read a line at a time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "libcore/base/printable.hpp"

namespace heddle {

// In one line; bytes that are not UTF-8 become U+FFFD.
inline std::string json_line(const nlohmann::ordered_json& json) {
  return printable_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace heddle
