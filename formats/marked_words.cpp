#include "heddle/formats/marked_words.hpp"

#include <charconv>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/text/spelling.hpp"

namespace heddle::formats {

namespace {

Index parse_position(const std::string& text, const Place& place) {
  Index position = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, position);
  check<DataError>(error == std::errc() && stop == end && position >= 0, place, ": ", text::quoted(text),
                   " is no position, which is the word's number in the sentence, from 0");
  return position;
}

data::MarkedWord parse_line(std::string_view line, const Place& place, Gold gold) {
  std::vector<std::string> columns = split(line, '\t');
  const std::size_t wanted = gold == Gold::given ? 3 : 2;
  check<DataError>(columns.size() == wanted, place, ": the number of columns is ", columns.size(), ", not ", wanted,
                   "; a line is ",
                   gold == Gold::given ? "SENSE, tab, POSITION, tab, SENTENCE" : "POSITION, tab, SENTENCE");
  data::MarkedWord example;
  example.line = place.line;
  if (gold == Gold::given) {
    check_label(columns[0], place);
    example.sense = columns[0];
  }
  example.position = parse_position(columns[wanted - 2], place);
  for (std::string& word : split(columns[wanted - 1], ' ')) {
    if (!word.empty()) example.words.push_back(std::move(word));
  }
  check<DataError>(example.position < static_cast<Index>(example.words.size()), place, ": there is no word ",
                   example.position, "; the sentence has ", example.words.size(), ", counted from 0");
  return example;
}

}  // namespace

std::vector<data::MarkedWord> read_marked_words(std::string_view content, std::string_view file, Gold gold) {
  std::vector<data::MarkedWord> examples;
  for_each_line(content, file,
                [&](std::string_view line, const Place& place) { examples.push_back(parse_line(line, place, gold)); });
  return examples;
}

}  // namespace heddle::formats
