#include "formats/labelled/fasttext.hpp"

#include <algorithm>

#include "libcore/base/strings.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

constexpr std::string_view label_mark = "__label__";

data::LabelledText fasttext_example(std::string_view line, const Place& place, Gold gold, bool has_several) {
  data::LabelledText example;
  example.line = place.line;
  std::vector<std::string> labels;
  for (line = trimmed(line, blanks); line.starts_with(label_mark); line = trimmed(line, blanks)) {
    const std::string_view token = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(token.size());
    if (gold == Gold::given) add_label(labels, token.substr(label_mark.size()), place);
  }
  example.text = line;
  if (gold == Gold::absent) return example;
  if (has_several) {
    example.labels = std::move(labels);
    return example;
  }
  check<DataError>(labels.size() == 1, place, ": has ", labels.size(),
                   " labels, where one is expected; --task multilabel learns any number of them");
  example.label = labels.front();
  return example;
}

}  // namespace

bool is_fasttext(std::string_view content) {
  return trimmed(first_line(content), blanks).starts_with(label_mark);
}

bool has_one_label_each(std::string_view content) {
  bool is_one = true;
  for_each_line(content, "", [&](std::string_view line, const Place&) {
    line = trimmed(line, blanks);
    if (line.empty()) return;
    const std::string_view rest = trimmed(line.substr(std::min(line.find_first_of(blanks), line.size())), blanks);
    is_one = is_one && line.starts_with(label_mark) && !rest.starts_with(label_mark);
  });
  return is_one;
}

std::vector<data::LabelledText> read_fasttext(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                              TableColumns& columns, BadRecords& bad) {
  check<UsageError>(texts == Texts::one, begin.file, ": is fasttext, whose lines have one text each");
  check<UsageError>(!columns.wanted().any() && columns.header() == Header::automatic, begin.file,
                    ": --text-column, --label-column and --header are for tables; fastText's lines have no columns");
  Room(content, begin.file).take_for_lines(content, sizeof(data::LabelledText));
  std::vector<data::LabelledText> examples;
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    if (text::is_blank(line) && gold == Gold::given) return;
    bad.attempt(place.line, [&] {
      examples.push_back(fasttext_example(line, place, gold, columns.wanted().separator.has_value()));
    });
  });
  return examples;
}

}  // namespace heddle::formats
