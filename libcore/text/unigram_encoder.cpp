// Unigram: words are cut into their most probable pieces (viterbi.hpp). Characters without a piece become their bytes,
// if there are pieces for those, or the unknown token; several in a row are one unknown token.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "libcore/text/cuts.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/segments.hpp"
#include "libcore/text/spaced_words.hpp"
#include "libcore/text/viterbi.hpp"
#include "libcore/text/word_cache.hpp"

namespace heddle::text {

namespace {

constexpr double unknown_penalty = 10;  // below the least score of a piece

class UnigramEncoder : public Encoder {
 public:
  explicit UnigramEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        cuts_(vocabulary.model().cuts),
        segments_(vocabulary),
        trie_(segments_.all()),
        unknown_score_(segments_.least_score() - unknown_penalty) {
    if (vocabulary.model().spaced_words) spaced_words_.emplace(vocabulary.model());
  }

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    Scratch scratch;
    if (rounds_sums()) {
      // Words depend on the sums before them, so none are remembered.
      spaced_words_->for_each_part(
          text, [&] { scratch.sum = 0; },
          [&](std::size_t begin, std::size_t end) { encode_spaced(text, begin, end, scratch, ids); });
      return;
    }
    auto cache = caches_.take();
    if (spaced_words_) {
      spaced_words_->for_each_part(
          text, [] {},
          [&](std::size_t begin, std::size_t end) {
            cache->encode(text, begin, end, ids,
                          [&](std::string_view) { encode_spaced(text, begin, end, scratch, ids); });
          });
    } else {
      cuts_.for_each(text, [&](const CutWord& word) {
        cache->encode(word.source, word.begin, word.end, ids,
                      [&](std::string_view bytes) { at_offset(word.at, [&] { encode_word(bytes, scratch, {ids}); }); });
      });
    }
    caches_.give_back(std::move(cache));
  }

  std::optional<std::vector<LocatedToken>> located(std::string_view text) const override {
    std::vector<LocatedToken> tokens;
    Scratch scratch;
    scratch.spaced.located = true;
    std::vector<TokenId> ids;
    std::vector<std::size_t> sizes;
    const auto locate_word = [&](std::string_view word, std::span<const Origin> origins, std::size_t offset) {
      ids.clear();
      sizes.clear();
      encode_word(word, scratch, {ids, &sizes});
      append_located(ids, sizes, origins, offset, tokens);
    };
    if (spaced_words_) {
      spaced_words_->for_each_part(
          text, [&] { scratch.sum = 0; },
          [&](std::size_t begin, std::size_t end) {
            spaced_words_->for_each_word(text.substr(begin, end - begin), scratch.spaced, [&](std::string_view word) {
              locate_word(word, scratch.spaced.word_origins, begin);
            });
          });
    } else {
      cuts_.for_each(text, [&](const CutWord& word) { locate_word(word.bytes(), word.origins(), 0); });
    }
    return tokens;
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    if (rounds_sums() && !spaced_words_->lines_are_apart()) return false;
    return spaced_words_ ? spaced_words_->is_boundary(text, position) : cuts_.is_boundary(text, position);
  }

 private:
  struct Scratch {
    std::vector<LastPiece> ways;
    SpacedWords::Scratch spaced;
    float sum = 0;  // log-probability of the text so far
  };

  // As SentencePiece, whose files say that only spaces separate words.
  bool rounds_sums() const { return vocabulary_.model().only_spaces; }

  template <class Encode>
  static void at_offset(std::size_t begin, const Encode& encode) {
    try {
      encode();
    } catch (const NoToken& error) {
      throw NoToken(begin + error.offset, error.what());
    }
  }

  // Normalisation hides the place of a word without a token.
  void encode_spaced(std::string_view text, std::size_t begin, std::size_t end, Scratch& scratch,
                     std::vector<TokenId>& ids) const {
    const std::string_view part = text.substr(begin, end - begin);
    try {
      check_spaced_text(vocabulary_, part);
      spaced_words_->for_each_word(part, scratch.spaced,
                                   [&](std::string_view word) { encode_word(word, scratch, {ids}); });
    } catch (const NoToken& error) {
      throw NoToken(begin, error.what());
    }
  }

  void encode_word(std::string_view word, Scratch& scratch, const TokenOutput& output) const {
    std::vector<LastPiece>& ways = scratch.ways;
    if (rounds_sums()) {
      scratch.sum = find_best_pieces_rounded(word, trie_, segments_.scores(), static_cast<float>(unknown_score_),
                                             scratch.sum, ways);
    } else {
      find_best_pieces(word, trie_, segments_.scores(), unknown_score_, ways);
    }
    const std::size_t first = turn(ways);
    for (std::size_t begin = 0, end = first; begin < word.size();) {
      std::size_t next = ways[end].begin;
      const TokenId segment = ways[end].piece;
      if (segment != no_token) {
        segments_.append(segment, begin, output);
      } else {
        for (; end < word.size() && ways[next].piece == no_token; next = ways[end].begin) end = next;
        segments_.append_unknown(word.substr(begin, end - begin), begin, output);
      }
      begin = end;
      end = next;
    }
  }

  // Reverses the ways to a word's end: each piece's begin becomes the end of the next one. Returns that of the first.
  static std::size_t turn(std::vector<LastPiece>& ways) {
    std::uint32_t next = 0;
    for (auto end = static_cast<std::uint32_t>(ways.size() - 1); end > 0;) {
      const std::uint32_t begin = std::exchange(ways[end].begin, next);
      next = std::exchange(end, begin);
    }
    return next;
  }

  const Vocabulary& vocabulary_;
  Cuts cuts_;
  Segments segments_;
  PieceTrie trie_;
  double unknown_score_;
  std::optional<SpacedWords> spaced_words_;
  mutable WordCaches caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_unigram_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<UnigramEncoder>(vocabulary);
}

}  // namespace heddle::text
