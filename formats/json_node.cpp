#include "heddle/formats/json_node.hpp"

#include <algorithm>

#include "heddle/formats/descriptor.hpp"
#include "heddle/formats/json_value.hpp"
#include "heddle/text/spelling.hpp"

namespace heddle::formats {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 28;

std::string shown(const nlohmann::json& value) {
  constexpr std::size_t most = 60;
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() > most ? text.substr(0, most) + "…" : text;
}

}  // namespace

nlohmann::json read_json(const std::string& path) {
  const std::string text = read_text(path);
  check<DataError>(text.size() <= most_bytes, path, ": has ", text.size(), " bytes; at most ", most_bytes, " are read");
  return parse_json(text, path);
}

JsonNode JsonNode::operator[](const std::string& key) const {
  static const nlohmann::json null;
  if (!value_->is_object()) refuse("must be an object, not " + shown(*value_));
  const auto member = value_->find(key);
  const bool top = place_.ends_with(": ");
  return {member == value_->end() ? null : *member, place_ + (top ? "" : ".") + key};
}

std::vector<JsonNode> JsonNode::list() const {
  if (!value_->is_array()) refuse("must be a list, not " + shown(*value_));
  std::vector<JsonNode> nodes;
  for (const nlohmann::json& item : *value_) nodes.emplace_back(item, concatenate(place_, "[", nodes.size(), "]"));
  return nodes;
}

const std::string& JsonNode::text() const {
  if (!value_->is_string()) refuse("must be text, not " + shown(*value_));
  return value_->get_ref<const std::string&>();
}

Index JsonNode::number(Index most) const {
  using Unsigned = nlohmann::json::number_unsigned_t;
  if (!value_->is_number_unsigned() || value_->get<Unsigned>() > static_cast<Unsigned>(most)) {
    refuse(concatenate("must be a whole number from 0 to ", most, ", not ", shown(*value_)));
  }
  return value_->get<Index>();
}

double JsonNode::real() const {
  if (!value_->is_number()) refuse("must be a number, not " + shown(*value_));
  return value_->get<double>();
}

bool JsonNode::flag() const {
  if (!value_->is_boolean()) refuse("must be true or false, not " + shown(*value_));
  return value_->get<bool>();
}

const JsonNode& JsonNode::expect_only(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) refuse("must be an object, not " + shown(*value_));
  for (const auto& [key, value] : value_->items()) {
    if (std::ranges::find(keys, key) == keys.end()) {
      refuse(concatenate("has ", text::quoted(key), ", which heddle does not know"));
    }
  }
  return *this;
}

void JsonNode::expect(const nlohmann::json& wanted) const {
  expect_any_of({wanted});
}

void JsonNode::expect_any_of(std::initializer_list<nlohmann::json> wanted) const {
  if (std::ranges::find(wanted, *value_) != wanted.end()) return;
  std::string choices;
  for (const nlohmann::json& choice : wanted) choices += (choices.empty() ? "" : " or ") + shown(choice);
  refuse(concatenate("is ", shown(*value_), "; heddle only has ", choices));
}

void JsonNode::refuse(const std::string& problem) const {
  const bool top = place_.ends_with(": ");
  throw DataError(concatenate(top ? place_ : place_ + ": ", problem));
}

}  // namespace heddle::formats
