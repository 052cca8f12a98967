// WordPiece: a word is its longest piece from the left, then the longest piece "##…" of the rest, and so on; a word
// that comes to no end this way is the unknown token. Source: Wu et al. 2016, "Google's neural machine translation
// system", section 4.1, as BERT's released code reads it.
#include <algorithm>
#include <optional>
#include <string>

#include "libcore/text/basic_words.hpp"
#include "libcore/text/cuts.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr std::size_t longest_word = 100;  // characters; longer ones are unknown

std::size_t character_count(std::string_view word) {
  return static_cast<std::size_t>(
      std::ranges::count_if(word, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

class WordPieceEncoder : public Encoder {
 public:
  explicit WordPieceEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), words_(basic_words(vocabulary.model())) {
    if (!vocabulary.model().cuts.empty()) cuts_.emplace(vocabulary.model().cuts);
    for (Index id = 0; id < vocabulary.size(); ++id) longest_ = std::max(longest_, vocabulary.bytes(id).size());
  }

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    if (!cuts_) return for_each_basic_word(text, words_, [&](std::string_view word) { encode_word(word, 0, ids); });
    cuts_->for_each(text, [&](const CutWord& word) { encode_word(word.bytes(), word.at, ids); });
  }

  std::optional<std::vector<LocatedToken>> located(std::string_view text) const override {
    if (!cuts_) return std::nullopt;
    std::vector<LocatedToken> tokens;
    std::vector<TokenId> ids;
    std::vector<std::size_t> sizes;
    cuts_->for_each(text, [&](const CutWord& word) {
      ids.clear();
      encode_word(word.bytes(), word.at, ids);
      sizes.clear();
      for (const TokenId id : ids)
        sizes.push_back(vocabulary_.bytes(id).size() - (sizes.empty() ? 0 : continuation_mark.size()));
      if (ids.front() == vocabulary_.model().unknown) sizes = {word.bytes().size()};
      append_located(ids, sizes, word.origins(), 0, tokens);
    });
    return tokens;
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return cuts_ ? cuts_->is_boundary(text, position) : is_basic_boundary(text, position);
  }

 private:
  // `at`: where the word is, as far as it is known.
  void encode_word(std::string_view word, std::size_t at, std::vector<TokenId>& ids) const {
    const std::size_t before = ids.size();
    if (word.size() <= longest_word || character_count(word) <= longest_word) {
      std::string rest(word);
      for (std::size_t mark = 0;; mark = continuation_mark.size()) {
        const std::size_t length = longest_piece(rest, mark, ids);
        if (length == rest.size()) return;
        if (length == 0) break;
        rest.replace(0, length, continuation_mark);
      }
    }
    ids.resize(before);
    const Index unknown = vocabulary_.model().unknown;
    if (unknown == no_token) throw NoToken(at, "a word has no pieces, and the tokenizer no unknown token");
    ids.push_back(static_cast<TokenId>(unknown));
  }

  // Appends the longest piece that the text, of which the mark is no part, starts with; returns its bytes, 0 for none.
  std::size_t longest_piece(std::string_view text, std::size_t mark, std::vector<TokenId>& ids) const {
    for (std::size_t end = std::min(text.size(), longest_); end > mark; --end) {
      if (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) continue;
      const TokenId id = vocabulary_.find(text.substr(0, end));
      if (id == no_token) continue;
      ids.push_back(id);
      return end;
    }
    return 0;
  }

  const Vocabulary& vocabulary_;
  BasicWords words_;
  std::optional<Cuts> cuts_;  // used instead of those
  std::size_t longest_ = 0;
};

}  // namespace

std::unique_ptr<Encoder> make_wordpiece_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<WordPieceEncoder>(vocabulary);
}

}  // namespace heddle::text
