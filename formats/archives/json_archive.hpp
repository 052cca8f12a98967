// A Boost archive that writes JSON: structs become objects with keys in the order of the fields. Numbers that stand for
// a word, such as auto, are written as the word.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "formats/archives/archive.hpp"

namespace heddle::formats {

using Json = nlohmann::ordered_json;

class JsonOutputArchive : public OutputArchive<JsonOutputArchive> {
 public:
  explicit JsonOutputArchive(Json& object) : objects_{&object} { object = Json::object(); }

  void describe(const Field& field) { described_ = &field; }
  template <class T>
  void put(const char* name, const T& value) {
    const std::string* word = nullptr;
    if constexpr (std::same_as<T, Index> || std::same_as<T, double>) word = described_->word_for(double(value));
    Json& member = (*objects_.back())[name];
    word != nullptr ? member = *word : member = value;
  }
  void open(const char* name) { objects_.push_back(&((*objects_.back())[name] = Json::object())); }
  void close() { objects_.pop_back(); }

 private:
  std::vector<Json*> objects_;  // the innermost last
  const Field* described_ = nullptr;
};

template <Visitable T>
Json to_json(const T& object) {
  Json json;
  JsonOutputArchive archive(json);
  archive << object;
  return json;
}

}  // namespace heddle::formats
