// Text as words with a space before each, which SentencePiece's models and T5's read: characters are replaced by a map,
// and of spaces between words one remains.
//
// Where only spaces separate words (TokenizerModel::only_spaces), this is SentencePiece's normalisation with
// add_dummy_prefix and remove_extra_whitespaces: a space is U+0020 or what the map makes one, and U+2581 in a text is a
// space that stays; where a line end is a space, each line is a text. Otherwise it is that of Hugging Face's
// WhitespaceSplit and Metaspace: any white space separates words, and U+2581 begins one.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/charsmap.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::text {

class SpacedWords {
 public:
  // Throws DataError for a damaged map.
  explicit SpacedWords(const TokenizerModel& model);

  // Calls start() for each text that is encoded alone, and take(begin, end) for its parts that can be normalised apart,
  // in order. Spaces are in none.
  template <class Start, class Take>
  void for_each_part(std::string_view text, const Start& start, const Take& take) const {
    for (std::size_t line = 0; line < text.size();) {
      const std::size_t line_end = lines_are_apart() ? std::min(text.find('\n', line), text.size()) : text.size();
      const std::size_t end = line + without_end(text.substr(line, line_end - line)).size();
      start();
      for (std::size_t at = line; at < end;) {
        const std::size_t begin = at;
        while (at < end && !separates(text[at])) ++at;
        if (at > begin) take(begin, at);
        while (at < end && separates(text[at])) ++at;
      }
      line = line_end + 1;
    }
  }

  // The memory of a call, which is used again. Where `located` is set, take() finds the origin of each byte of its word
  // in the part in `word_origins`; a space that is only there to begin the word has none.
  struct Scratch {
    std::string normalised, word;
    bool located = false;
    std::vector<Origin> origins, word_origins;
  };
  // Calls take(word) for the words of a part, each with its space before it.
  using Take = std::function<void(std::string_view)>;
  void for_each_word(std::string_view part, Scratch& scratch, const Take& take) const;

  // Whether texts of several lines are as many texts.
  bool lines_are_apart() const { return only_spaces_ && separates('\n'); }

  // As Encoder::is_boundary().
  bool is_boundary(std::string_view text, std::size_t position) const;

  // Whether it makes no difference to a text without U+2581 if only spaces separate words.
  bool maps_all_white_space() const;

 private:
  bool separates(char byte) const { return separators_.find(byte) != separators_.npos; }
  std::string_view without_end(std::string_view text) const;
  void normalise(std::string_view part, Scratch& scratch) const;
  void words_by_white_space(Scratch& scratch, const Take& take) const;
  void words_by_spaces(Scratch& scratch, const Take& take) const;

  bool only_spaces_;
  std::unique_ptr<const Charsmap> charsmap_;
  std::string separators_;  // bytes that are white space, whatever is beside them
};

}  // namespace heddle::text
