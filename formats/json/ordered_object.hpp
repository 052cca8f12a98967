// Objects of very many members, in a given order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::formats {

// Precondition: no two members have one name. In linear time: members that are added one by one are each sought among
// the others.
template <class Value>
nlohmann::ordered_json ordered_object(const std::vector<std::pair<std::string, Value>>& members) {
  return nlohmann::ordered_json::object_t(members.begin(), members.end());
}

}  // namespace heddle::formats
