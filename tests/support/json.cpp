#include "support/json.hpp"

namespace heddle::testing {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text);
}

}  // namespace heddle::testing
