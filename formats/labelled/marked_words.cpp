#include "formats/labelled/marked_words.hpp"

#include <algorithm>
#include <charconv>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

Index parse_position(const std::string& text, const Place& place) {
  Index position = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, position);
  check<DataError>(error == std::errc() && stop == end && position >= 0, place, ": ", text::quoted(text),
                   " is not a position: the number of the word in the sentence, from 0");
  return position;
}

data::MarkedWord parse_line(std::string_view line, const Place& place, Gold gold, Room& room) {
  const std::size_t wanted = gold == Gold::given ? 3 : 2;
  const Index count = std::ranges::count(line, '\t') + 1;
  check<DataError>(count == static_cast<Index>(wanted), place, ": the number of columns is ", count, ", not ", wanted,
                   "; a line is ",
                   gold == Gold::given ? "SENSE, tab, POSITION, tab, SENTENCE" : "POSITION, tab, SENTENCE");
  const std::vector<std::string> columns = split(line, '\t');
  data::MarkedWord example;
  example.line = place.line;
  if (gold == Gold::given) {
    check_label(columns[0], place);
    example.sense = columns[0];
  }
  example.position = parse_position(columns[wanted - 2], place);
  const std::string& sentence = columns[wanted - 1];
  room.take((static_cast<std::size_t>(std::ranges::count(sentence, ' ')) + 1) * sizeof(std::string));
  example.words = split(sentence, ' ');
  std::erase(example.words, "");
  check<DataError>(example.position < static_cast<Index>(example.words.size()), place, ": there is no word ",
                   example.position, "; the sentence has ", example.words.size(), ", counted from 0");
  return example;
}

}  // namespace

std::vector<data::MarkedWord> read_marked_words(std::string_view content, std::string_view file, Gold gold) {
  Room room(content, file);
  room.take_for_lines(content, sizeof(data::MarkedWord));
  std::vector<data::MarkedWord> examples;
  examples.reserve(line_count(content));
  for_each_line(content, file, [&](std::string_view line, const Place& place) {
    examples.push_back(parse_line(line, place, gold, room));
  });
  return examples;
}

}  // namespace heddle::formats
