// A value in a JSON document from elsewhere, which knows its place there, so that errors name it.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/base/real.hpp"

namespace heddle::formats {

// The document of a file of at most 256 MB. Throws DataError with file and line where it is not JSON.
nlohmann::json read_json(const std::string& path);

// All functions throw DataError "FILE: a.b[3]: …" where the value is not as asked for. The document must outlive it.
class JsonNode {
 public:
  JsonNode(const nlohmann::json& value, std::string place) : value_(&value), place_(std::move(place)) {}

  const nlohmann::json& value() const { return *value_; }
  bool is_null() const { return value_->is_null(); }

  // A member of an object; null where there is none.
  JsonNode operator[](const std::string& key) const;
  // The members of a list.
  std::vector<JsonNode> list() const;
  const std::string& text() const;
  Index number(Index most = 0x7FFFFFFF) const;
  Index number_or(Index absent) const { return is_null() ? absent : number(); }
  double real() const;
  double real_or(double absent) const { return is_null() ? absent : real(); }
  bool flag() const;
  bool flag_or(bool absent) const { return is_null() ? absent : flag(); }

  // Refuses objects with other members than these, which would mean something that is not known here.
  const JsonNode& expect_only(std::initializer_list<std::string_view> keys) const;
  // Refuses other values, null for absent ones.
  void expect(const nlohmann::json& wanted) const;
  void expect_any_of(std::initializer_list<nlohmann::json> wanted) const;
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  const nlohmann::json* value_;
  std::string place_;
};

}  // namespace heddle::formats
