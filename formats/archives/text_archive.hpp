// A Boost archive that writes text, one line per field: "learning-rate = 0.001", with the names of options. Sections
// are introduced by a comment line, so the text is a configuration file that --config reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/archives/archive.hpp"

namespace heddle::formats {

// The value as it is written on a command line; numbers with as few digits as give back the same number, lists with
// commas.
std::string text_of(bool value);
std::string text_of(Index value);
std::string text_of(double value);
inline std::string text_of(const std::string& value) {
  return value;
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  std::vector<std::string> parts;
  for (const T& value : values) parts.push_back(text_of(value));
  return join(parts, ",");
}

class TextOutputArchive : public OutputArchive<TextOutputArchive> {
 public:
  explicit TextOutputArchive(std::string& text) : text_(&text) {}

  void describe(const Field& field) { described_ = &field; }
  template <class T>
  void put(const char* name, const T& value) {
    const std::string* word = nullptr;
    if constexpr (std::same_as<T, Index> || std::same_as<T, double>) word = described_->word_for(double(value));
    add_line(name, word != nullptr ? *word : text_of(value));
  }
  void open(const char* name);
  void close() {}

 private:
  void add_line(std::string_view name, const std::string& value);
  std::string* text_;
  const Field* described_ = nullptr;
};

template <Visitable T>
std::string archive_text(const T& object) {
  std::string text;
  TextOutputArchive archive(text);
  archive << object;
  return text;
}

}  // namespace heddle::formats
