// Sentences while they are read word by word.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/labelled/bad_records.hpp"
#include "libcore/base/error.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// Collects sentences word by word, without unused memory.
class SentenceList {
 public:
  SentenceList(Room room, BadRecords& bad) : room_(room), bad_(bad) {}

  // Calls read(), which may add a word of the line, unless the sentence has a bad line already.
  template <class Read>
  void read_line(const Place& place, const Read& read) {
    if (begin_ == 0) begin_ = place.line;
    if (!problem_.empty()) return;
    try {
      read();
    } catch (const NoRoom&) {
      throw;
    } catch (const DataError& error) {
      problem_ = error.what();
    }
  }

  void add(std::string_view word, std::string_view tag, const Place& place, Gold gold) {
    constexpr Index longest_sentence = 100'000;
    check<DataError>(!word.empty(), place, ": the word is empty");
    check<DataError>(words() < longest_sentence, place, ": a sentence of more than ", longest_sentence,
                     " words; an empty line ends each");
    room_.take(2 * sizeof(std::string) + sizeof(Index));
    sentence_.words.emplace_back(word);
    sentence_.lines.push_back(place.line);
    if (gold == Gold::absent) return;
    check_label(tag, place);
    sentence_.tags.emplace_back(tag);
  }
  Index words() const { return static_cast<Index>(sentence_.words.size()); }
  void end_sentence() {
    std::vector<std::string>&words = sentence_.words, &tags = sentence_.tags;
    std::vector<Index>& lines = sentence_.lines;
    const Index begin = std::exchange(begin_, 0);
    if (!problem_.empty()) {
      bad_.add(begin, std::exchange(problem_, {}));
    } else if (!words.empty()) {
      constexpr std::size_t allocations = 3 * 32, growth = 3;
      room_.take(growth * sizeof(data::TaggedSentence) + allocations);
      list_.push_back({{std::move_iterator(words.begin()), std::move_iterator(words.end())},
                       {std::move_iterator(tags.begin()), std::move_iterator(tags.end())},
                       lines});
      bad_.add_good();
    }
    words.clear();
    tags.clear();
    lines.clear();
  }
  std::vector<data::TaggedSentence> finish() && {
    end_sentence();
    return std::move(list_);
  }

 private:
  Room room_;
  BadRecords& bad_;
  std::vector<data::TaggedSentence> list_;
  data::TaggedSentence sentence_;
  Index begin_ = 0;      // its first line
  std::string problem_;  // names its first bad line
};

}  // namespace heddle::formats
