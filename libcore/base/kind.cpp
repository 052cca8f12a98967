#include "libcore/base/kind.hpp"

#include <algorithm>
#include <set>

namespace heddle {

namespace {

class TextCollector : public FieldVisitor {
 public:
  void operator()(const Field& field, bool& value) override { add(field, value); }
  void operator()(const Field& field, Index& value) override { add(field, value); }
  void operator()(const Field& field, double& value) override { add(field, value); }
  void operator()(const Field& field, std::string& value) override { add(field, value); }
  std::vector<FieldText> texts;

 private:
  template <class T>
  void add(const Field& field, const T& value) {
    texts.push_back({field, field_text(field, value)});
  }
};

class FieldSetter : public FieldVisitor {
 public:
  FieldSetter(std::string_view name, const std::string& text)
      : option_(Field(std::string(name), "").option()), text_(text) {}
  void operator()(const Field& field, bool& value) override { set(field, value); }
  void operator()(const Field& field, Index& value) override { set(field, value); }
  void operator()(const Field& field, double& value) override { set(field, value); }
  void operator()(const Field& field, std::string& value) override { set(field, value); }
  bool found() const { return found_; }

 private:
  template <class T>
  void set(const Field& field, T& value) {
    if (field.is_computed || field.option() != option_) return;
    found_ = true;
    try {
      value = parse_field<T>(field, text_);
    } catch (const UsageError& error) {
      throw UsageError(option_ + ": " + error.what());
    }
  }
  std::string option_;
  const std::string& text_;
  bool found_ = false;
};

template <class Parse>
auto parse_in_range(const Field& field, std::string_view text, const Parse& parse) {
  const std::string range = field.range_text(), allowed = range.empty() ? "" : "; it must be " + range;
  try {
    for (const auto& [number, word] : field.words) {
      if (word == text) return static_cast<decltype(parse(text))>(number);
    }
    const auto value = parse(text);
    check<UsageError>(field.in_range(static_cast<double>(value)), text, " is out of range");
    return value;
  } catch (const UsageError& error) {
    throw UsageError(error.what() + allowed);
  }
}

// Parts between commas that no backslash precedes; the backslashes before commas are left out.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

}  // namespace

Index detail::parse_index_in_range(const Field& field, std::string_view text) {
  return parse_in_range(field, text, parse_index);
}

double detail::parse_number_in_range(const Field& field, std::string_view text) {
  return parse_in_range(field, text, parse_number);
}

std::vector<FieldText> field_texts(const VisitFields& visit) {
  TextCollector collector;
  visit(collector);
  return std::move(collector.texts);
}

bool set_field(const VisitFields& visit, std::string_view name, const std::string& text) {
  FieldSetter setter(name, text);
  visit(setter);
  return setter.found();
}

KindText KindText::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  KindText result{std::string(text.substr(0, colon))};
  if (colon == text.npos) return result;
  std::set<std::string> keys;
  for (const std::string& part : parts_of(text.substr(colon + 1))) {
    const std::size_t equals = part.find('=');
    check<UsageError>(equals != part.npos && equals > 0, "'", text, "': '", part,
                      "' is not a setting; write NAME:KEY=VALUE,…, and a comma inside a value as \\,");
    result.settings.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    check<UsageError>(keys.insert(Field(part.substr(0, equals), "").option()).second, "'", text,
                      "': ", part.substr(0, equals), " is given twice");
  }
  return result;
}

std::vector<std::string> KindHelp::keys() const {
  std::vector<std::string> keys;
  for (const FieldText& field : fields) keys.push_back(field.field.option());
  return keys;
}

std::string unknown_key(const std::vector<KindHelp>& kinds, const std::string& name, const std::string& key) {
  const std::string wanted = Field(key, "").option();
  std::vector<std::string> own, owners;
  for (const KindHelp& kind : kinds) {
    const std::vector<std::string> keys = kind.keys();
    if (kind.name == name) own = keys;
    if (std::ranges::count(keys, wanted) > 0) owners.push_back(kind.name);
  }
  const std::string near = nearest(wanted, own);
  return concatenate(name, " has no key '", wanted, "'", owners.empty() ? "" : ", which is one of " + join(owners),
                     own.empty() ? "; it has none" : "; it has " + join(own),
                     near.empty() ? "" : "; did you mean '" + near + "'?");
}

}  // namespace heddle
