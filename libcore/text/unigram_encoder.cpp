// Unigram: words are cut into their most probable pieces (viterbi.hpp). Characters without a piece become their bytes,
// if there are pieces for those, or the unknown token; several in a row are one unknown token.
#include <algorithm>
#include <memory>
#include <string>

#include "heddle/base/strings.hpp"
#include "heddle/text/basic_words.hpp"
#include "heddle/text/charsmap.hpp"
#include "heddle/text/cuts.hpp"
#include "heddle/text/encoder.hpp"
#include "heddle/text/spelling.hpp"
#include "heddle/text/unicode.hpp"
#include "heddle/text/viterbi.hpp"
#include "heddle/text/word_cache.hpp"

namespace heddle::text {

namespace {

constexpr double unknown_penalty = 10;  // below the least score of a piece

PieceTrie trie_of(const Vocabulary& vocabulary) {
  std::vector<PieceTrie::Piece> pieces;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.is_piece(id)) pieces.emplace_back(vocabulary.bytes(id), id);
  }
  return PieceTrie(std::move(pieces));
}

double least_score(const Vocabulary& vocabulary) {
  double least = 0;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.is_piece(id)) least = std::min(least, vocabulary.model().scores[static_cast<std::size_t>(id)]);
  }
  return least;
}

bool is_blank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

// SentencePiece has no space in U+0085, though Unicode has.
bool is_space(char32_t code) {
  constexpr char32_t next_line = 0x85;
  return classify(code) == CharacterClass::space && code != next_line;
}

class UnigramEncoder : public Encoder {
 public:
  explicit UnigramEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        cuts_(vocabulary.model().cuts),
        trie_(trie_of(vocabulary)),
        unknown_score_(least_score(vocabulary) - unknown_penalty) {
    std::string map;
    for (const std::string& part : vocabulary.model().charsmap) map += from_base64(part);
    if (!map.empty()) charsmap_ = std::make_unique<Charsmap>(map);
  }

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    auto cache = caches_.take();
    Scratch scratch;
    const auto take = [&](std::size_t begin, std::size_t end) {
      cache->encode(text, begin, end, ids, [&](std::string_view word) {
        try {
          vocabulary_.model().spaced_words ? encode_spaced(word, scratch, ids) : encode_word(word, scratch, ids);
        } catch (const NoToken& error) {
          throw NoToken(begin + (vocabulary_.model().spaced_words ? 0 : error.offset), error.what());
        }
      });
    };
    vocabulary_.model().spaced_words ? for_each_between_blanks(text, take) : cuts_.for_each(text, take);
    caches_.give_back(std::move(cache));
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return vocabulary_.model().spaced_words ? is_basic_boundary(text, position) : cuts_.is_boundary(text, position);
  }

 private:
  struct Scratch {
    std::vector<LastPiece> ways;
    std::vector<TokenId> tokens;
    std::string normalised, word;
  };

  template <class Take>
  static void for_each_between_blanks(std::string_view text, const Take& take) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && !is_blank(text[at])) ++at;
      if (at > begin) take(begin, at);
      while (at < text.size() && is_blank(text[at])) ++at;
    }
  }

  // What has no blanks of ASCII: normalisation may bring some, and marks of spaces stand for them.
  void encode_spaced(std::string_view text, Scratch& scratch, std::vector<TokenId>& ids) const {
    if (!vocabulary_.model().byte_fallback && !is_utf8(text)) unknown_token(vocabulary_, text, 0);
    scratch.normalised.clear();
    if (charsmap_) {
      charsmap_->apply(text, scratch.normalised);
    } else {
      scratch.normalised = text;
    }
    const std::string_view normalised = scratch.normalised;
    for (std::size_t at = 0; at < normalised.size();) {
      scratch.word = ' ';
      const std::size_t begin = at;
      while (at < normalised.size()) {
        const Character character = decode(normalised, at);
        const std::string_view raw = normalised.substr(at, character.length);
        if (is_space(character.code) || (raw == space_mark && at > begin)) break;
        if (raw != space_mark) scratch.word += raw;
        at += character.length;
      }
      if (at > begin) encode_word(scratch.word, scratch, ids);
      if (at < normalised.size() && !normalised.substr(at).starts_with(space_mark)) at += decode(normalised, at).length;
    }
  }

  void encode_word(std::string_view word, Scratch& scratch, std::vector<TokenId>& ids) const {
    find_best_pieces(word, trie_, vocabulary_.model().scores, unknown_score_, scratch.ways);
    scratch.tokens.clear();
    for (std::size_t end = word.size(); end > 0;) {
      const LastPiece& last = scratch.ways[end];
      if (last.piece != no_token) {
        scratch.tokens.push_back(last.piece);
        end = last.begin;
        continue;
      }
      std::size_t begin = last.begin;
      while (begin > 0 && scratch.ways[begin].piece == no_token) begin = scratch.ways[begin].begin;
      const std::size_t before = scratch.tokens.size();
      unknown_tokens(word.substr(begin, end - begin), begin, scratch.tokens);
      std::reverse(scratch.tokens.begin() + static_cast<std::ptrdiff_t>(before), scratch.tokens.end());
      end = begin;
    }
    ids.insert(ids.end(), scratch.tokens.rbegin(), scratch.tokens.rend());
  }

  void unknown_tokens(std::string_view text, std::size_t offset, std::vector<TokenId>& ids) const {
    if (!vocabulary_.model().byte_fallback) return ids.push_back(unknown_token(vocabulary_, text, offset));
    for (const char byte : text) ids.push_back(vocabulary_.byte_token(static_cast<unsigned char>(byte)));
  }

  const Vocabulary& vocabulary_;
  Cuts cuts_;
  PieceTrie trie_;
  double unknown_score_;
  std::unique_ptr<Charsmap> charsmap_;
  mutable WordCaches caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_unigram_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<UnigramEncoder>(vocabulary);
}

}  // namespace heddle::text
