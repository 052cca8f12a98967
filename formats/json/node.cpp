#include "formats/json/node.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "formats/files/descriptor.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

using Kind = JsonDocument::Kind;

constexpr std::size_t most_bytes = std::size_t{1} << 28;

// A key as messages show it: in quotation marks unless it is a word.
std::string key_text(std::string_view key) {
  const auto is_plain = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_';
  };
  const bool plain = !key.empty() && std::ranges::all_of(key, is_plain);
  return plain ? std::string(key) : concatenate(text::quoted(key));
}

enum class Spelling { ascii, utf8 };

std::string quoted_json(std::string_view text, Spelling spelling) {
  return nlohmann::json(text).dump(-1, ' ', spelling == Spelling::ascii, nlohmann::json::error_handler_t::replace);
}

// Appends the value as compact JSON; stops a little after the text has `most` bytes.
void append_json(const JsonDocument& document, std::size_t index, Spelling spelling, std::size_t most,
                 std::string& text) {
  const JsonDocument::Value& value = document.values()[index];
  const auto characters = [&](std::size_t of) { return document.characters(document.values()[of]).substr(0, most); };
  if (value.kind == Kind::text) {
    text += quoted_json(characters(index), spelling);
  } else if (value.kind != Kind::list && value.kind != Kind::object) {
    text += characters(index);
  } else {
    const bool is_object = value.kind == Kind::object;
    text += is_object ? '{' : '[';
    for (std::size_t i = index + 1; i < value.size && text.size() <= most; i = next_of(document.values(), i)) {
      if (i > index + 1) text += ',';
      if (is_object) text += quoted_json(characters(i++), spelling) + ":";
      append_json(document, i, spelling, most, text);
    }
    text += is_object ? '}' : ']';
  }
}

}  // namespace

JsonDocument read_json(const std::string& path) {
  std::string text = read_text(path);
  check<DataError>(text.size() <= most_bytes, path, ": has ", text.size(), " bytes; at most ", most_bytes, " are read");
  return JsonDocument(std::move(text), path);
}

std::string JsonNode::place() const {
  std::string text = document_->file() + ": ";
  const std::size_t top = text.size();
  const auto& values = document_->values();
  for (std::size_t outer = 0; outer != index_;) {
    const bool is_object = values[outer].kind == Kind::object;
    std::size_t part = outer + 1, number = 0;
    for (; next_of(values, part + (is_object ? 1 : 0)) <= index_; ++number) {
      part = next_of(values, part + (is_object ? 1 : 0));
    }
    if (is_object) {
      text += (text.size() == top ? "" : ".") + key_text(document_->characters(values[part++]));
    } else {
      text += concatenate("[", number, "]");
    }
    outer = part;
  }
  if (is_absent()) text += (text.size() == top ? "" : ".") + missing_;
  return text.size() == top ? text : text + ": ";
}

std::string JsonNode::shown() const {
  constexpr std::size_t most = 60;
  if (is_absent()) return "null";
  std::string text;
  append_json(*document_, index_, Spelling::ascii, most, text);
  if (text.size() <= most) return text;
  text.resize(most);
  return text.append("…");
}

std::string JsonNode::json() const {
  if (is_absent()) return "null";
  std::string text;
  append_json(*document_, index_, Spelling::utf8, text.max_size(), text);
  return text;
}

bool JsonNode::is_count() const {
  return is_number() && digits().find_first_not_of("0123456789") == std::string_view::npos;
}

JsonNode JsonNode::operator[](std::string_view key) const {
  if (!is_object()) refuse("must be an object, not " + shown());
  return find(key);
}

JsonNode JsonNode::find(std::string_view key) const {
  if (is_object()) {
    for (const JsonNode& member : members()) {
      if (member.key() == key) return member;
    }
  }
  JsonNode absent = *this;
  absent.missing_ += (is_absent() ? "." : "") + key_text(key);
  return absent;
}

JsonNodes JsonNode::list() const {
  if (!is_list()) refuse("must be a list, not " + shown());
  return {{*document_, index_ + 1, 0}, {*document_, value().size, 0}};
}

JsonNodes JsonNode::members() const {
  if (!is_object()) refuse("must be an object, not " + shown());
  return {{*document_, index_ + 1, 1}, {*document_, value().size, 1}};
}

std::string_view JsonNode::text() const {
  if (!is_text()) refuse("must be text, not " + shown());
  return document_->characters(value());
}

Index JsonNode::number(Index most) const {
  Index number = 0;
  const std::string_view written = is_count() ? digits() : "";
  const auto [stop, error] = std::from_chars(written.data(), written.data() + written.size(), number);
  if (written.empty() || error != std::errc() || number > most) {
    refuse(concatenate("must be a whole number from 0 to ", most, ", not ", shown()));
  }
  return number;
}

double JsonNode::real() const {
  if (!is_number()) refuse("must be a number, not " + shown());
  return std::strtod(std::string(digits()).c_str(), nullptr);
}

bool JsonNode::flag() const {
  if (!is_flag()) refuse("must be true or false, not " + shown());
  return is(Kind::yes);
}

bool JsonNode::equals(const nlohmann::json& wanted) const {
  switch (wanted.type()) {
    case nlohmann::json::value_t::null:
      return is_null();
    case nlohmann::json::value_t::boolean:
      return is_flag() && flag() == wanted.get<bool>();
    case nlohmann::json::value_t::string:
      return is_text() && text() == wanted.get_ref<const std::string&>();
    case nlohmann::json::value_t::object:
      return is_object() && size() == wanted.size() && std::ranges::all_of(wanted.items(), [this](const auto& member) {
               return find(member.key()).equals(member.value());
             });
    case nlohmann::json::value_t::array:  // an empty one
      return is_list() && size() == 0 && wanted.empty();
    default:
      return is_number() && real() == wanted.get<double>();
  }
}

const JsonNode& JsonNode::expect_only(std::initializer_list<std::string_view> keys) const {
  for (const JsonNode& member : members()) {
    if (std::ranges::find(keys, member.key()) == keys.end()) {
      refuse(concatenate("has ", text::quoted(member.key()), ", which heddle does not support"));
    }
  }
  return *this;
}

void JsonNode::expect(const nlohmann::json& wanted) const {
  expect_any_of({wanted});
}

void JsonNode::expect_any_of(std::initializer_list<nlohmann::json> wanted) const {
  if (std::ranges::any_of(wanted, [this](const nlohmann::json& choice) { return equals(choice); })) return;
  std::string choices;
  for (auto choice = wanted.begin(); choice != wanted.end(); ++choice) {
    if (std::find(wanted.begin(), choice, *choice) != choice) continue;
    choices += (choices.empty() ? "" : " or ") + choice->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  refuse(concatenate("is ", shown(), "; heddle only supports ", choices));
}

void JsonNode::refuse(const std::string& problem) const {
  throw DataError(place() + problem);
}

}  // namespace heddle::formats
