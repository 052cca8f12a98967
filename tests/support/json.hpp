// JSON that tests read.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace heddle::testing {

// Parses the whole text. Compiled once, since the parser takes two seconds of each source that has it.
nlohmann::json parse_json(std::string_view text);

}  // namespace heddle::testing
