// A format of labelled data with its settings, as command lines have them: "csv:separator=tab,encoding=latin1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/table_format.hpp"
#include "libcore/base/settings.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::formats {

enum class LabelledFormat {
  automatic,
#define HEDDLE_LABELLED_FORMAT(name, ending, texts, sentences, spans) name,
#include "formats/labelled/formats.def"
#undef HEDDLE_LABELLED_FORMAT
};

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::LabelledFormat> {
  static constexpr std::pair<formats::LabelledFormat, std::string_view> list[] = {
      {formats::LabelledFormat::automatic, "auto"},
#define HEDDLE_LABELLED_FORMAT(name, ending, texts, sentences, spans) {formats::LabelledFormat::name, #name},
#include "formats/labelled/formats.def"
#undef HEDDLE_LABELLED_FORMAT
  };
};

namespace heddle::formats {

class FormatChoice {
 public:
  FormatChoice(LabelledFormat kind = LabelledFormat::automatic) : kind_(kind) {}

  LabelledFormat kind() const { return kind_; }
  // The syntax of tsv and csv.
  const TableSyntax& syntax() const { return syntax_; }
  // As a TextDecoder knows it; "auto": UTF-8, or UTF-16 where its byte order mark says so.
  const std::string& encoding() const { return encoding_; }
  // jsonl: the tags that have numbers instead of names, from 0.
  const std::vector<std::string>& tags() const { return tags_; }
  // The same settings of another format, once a file's name has said which it is.
  FormatChoice as(LabelledFormat kind) const;

  // from_text throws UsageError for an unknown name and for settings that the format does not have.
  std::string text() const;
  static FormatChoice from_text(std::string_view text);
  // The formats with their settings, for help.
  static const std::vector<NameHelp>& described();

 private:
  void set(const std::string& key, const std::string& value);

  LabelledFormat kind_;
  TableSyntax syntax_;
  std::string encoding_ = "auto";
  std::vector<std::string> tags_;
};

}  // namespace heddle::formats
