#include "heddle/formats/labelled/tsv.hpp"

#include <algorithm>
#include <utility>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"

namespace heddle::formats {

namespace {

const char* expected_line(Texts texts, Gold gold) {
  if (gold == Gold::absent) return "TEXT, tab, TEXT";
  return texts == Texts::one ? "LABEL, tab, TEXT" : "LABEL, tab, TEXT, tab, TEXT";
}

data::LabelledText parse_line(std::string_view line, const Place& place, Texts texts, Gold gold) {
  data::LabelledText example;
  example.line = place.line;
  if (texts == Texts::one && gold == Gold::absent) {
    example.text = line;
    return example;
  }
  check<DataError>(!line.empty(), place, ": is empty; a line is ", expected_line(texts, gold));
  const Index wanted = (gold == Gold::given ? 1 : 0) + (texts == Texts::one ? 1 : 2);
  const Index count = std::ranges::count(line, '\t') + 1;
  check<DataError>(count == wanted, place, ": the number of columns is ", count, ", not ", wanted, "; a line is ",
                   expected_line(texts, gold));
  std::vector<std::string> columns = split(line, '\t');
  if (texts == Texts::two) {
    example.second_text = std::move(columns.back());
    columns.pop_back();
  }
  example.text = std::move(columns.back());
  if (gold == Gold::given) {
    check_label(columns.front(), place);
    example.label = std::move(columns.front());
  }
  return example;
}

}  // namespace

std::vector<data::LabelledText> read_tsv(std::string_view content, const Place& begin, Texts texts, Gold gold) {
  Room(content, begin.file).take_for_lines(content, sizeof(data::LabelledText));
  std::vector<data::LabelledText> examples;
  examples.reserve(line_count(content));
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    examples.push_back(parse_line(line, place, texts, gold));
  });
  return examples;
}

}  // namespace heddle::formats
