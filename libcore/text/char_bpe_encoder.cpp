// BPE of characters, as SentencePiece's and Llama's: spaces are characters like others, a text may begin with one that
// is not there, and a character without a piece is its bytes.
#include <algorithm>
#include <string>

#include "heddle/text/encoder.hpp"
#include "heddle/text/merges.hpp"
#include "heddle/text/spelling.hpp"
#include "heddle/text/unicode.hpp"
#include "heddle/text/word_cache.hpp"

namespace heddle::text {

namespace {

// Whether no merge joins what stands before a space with the space: then words can be encoded apart.
bool words_stand_alone(const Vocabulary& vocabulary) {
  const std::vector<Index>& merges = vocabulary.model().merges;
  for (std::size_t at = 0; at + 1 < merges.size(); at += 2) {
    if (!vocabulary.bytes(merges[at]).ends_with(' ') && vocabulary.bytes(merges[at + 1]).starts_with(' ')) return false;
  }
  return true;
}

class CharBpeEncoder : public Encoder {
 public:
  explicit CharBpeEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), merges_(vocabulary), words_stand_alone_(text::words_stand_alone(vocabulary)) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    if (text.empty()) return;
    const std::string spaced = with_spaces(text);
    auto cache = caches_.take();
    std::vector<TokenId> tokens;
    for (std::size_t begin = 0; begin < spaced.size();) {
      const std::size_t end = word_end(spaced, begin);
      cache->encode(spaced, begin, end, ids, [&](std::string_view word) {
        tokens.clear();
        for (std::size_t at = 0; at < word.size();) at += append_character(word, at, tokens);
        merges_.encode(std::span<const TokenId>(tokens), ids);
      });
      begin = end;
    }
    caches_.give_back(std::move(cache));
  }

  // A later part of a text would get a space of its own.
  bool is_boundary(std::string_view text, std::size_t position) const override {
    return words_stand_alone_ && !vocabulary_.model().prefix_space && text[position] == ' ' &&
           text[position - 1] != ' ' && !text.substr(0, position).ends_with(space_mark);
  }

 private:
  // Marks of spaces in a text are spaces too.
  std::string with_spaces(std::string_view text) const {
    std::string spaced(vocabulary_.model().prefix_space ? 1 : 0, ' ');
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t mark = std::min(text.find(space_mark, at), text.size());
      spaced += text.substr(at, mark - at);
      if (mark < text.size()) spaced += ' ';
      at = mark + space_mark.size();
    }
    return spaced;
  }

  std::size_t word_end(std::string_view text, std::size_t begin) const {
    if (!words_stand_alone_) return text.size();
    return std::min(text.find(' ', std::min(text.find_first_not_of(' ', begin), text.size())), text.size());
  }

  std::size_t append_character(std::string_view word, std::size_t at, std::vector<TokenId>& tokens) const {
    const std::string_view character = word.substr(at, decode(word, at).length);
    if (const TokenId id = vocabulary_.find(character); id != no_token) {
      tokens.push_back(id);
    } else {
      for (const char byte : character) tokens.push_back(vocabulary_.byte_token(static_cast<unsigned char>(byte)));
    }
    return character.size();
  }

  const Vocabulary& vocabulary_;
  Merges merges_;
  bool words_stand_alone_;
  mutable WordCaches caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_char_bpe_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<CharBpeEncoder>(vocabulary);
}

}  // namespace heddle::text
