// The members of a JSON object as they are spelled, to pass on what a program does not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::formats {

struct SpelledMember {
  std::string key;         // escapes are decoded
  std::string_view whole;  // "key": value, without blanks around it
};

// In order. The object must be valid JSON (JsonDocument), and outlive the views. Precondition: it is an object.
std::vector<SpelledMember> spelled_members(std::string_view object);

// The members without those of these keys, as one text on one line: "id": 7, "source": "web".
std::string members_except(std::string_view object, const std::vector<std::string>& keys);

}  // namespace heddle::formats
