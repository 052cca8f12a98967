// BPE of characters, as SentencePiece's and Llama's: a text is words with spaces before them, or its spaces are
// characters like others, and it may begin with one that is not there. A character without a piece is its bytes or,
// where pairs are merged by scores, the unknown token.
#include <algorithm>
#include <optional>
#include <string>

#include "libcore/text/merges.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/scored_merges.hpp"
#include "libcore/text/segments.hpp"
#include "libcore/text/spaced_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"
#include "libcore/text/word_cache.hpp"

namespace heddle::text {

namespace {

// Whether nothing that is merged has a space after something else: then words can be encoded apart.
bool words_stand_alone(const Vocabulary& vocabulary, const Segments& segments) {
  const std::vector<Index>& merges = vocabulary.model().merges;
  for (std::size_t at = 0; at + 1 < merges.size(); at += 2) {
    if (!vocabulary.bytes(merges[at]).ends_with(' ') && vocabulary.bytes(merges[at + 1]).starts_with(' ')) return false;
  }
  if (vocabulary.model().scores.empty()) return true;
  return std::ranges::none_of(segments.all(), [](const PieceTrie::Piece& piece) {
    const std::size_t word = piece.first.find_first_not_of(' ');
    return word != piece.first.npos && piece.first.find(' ', word) != piece.first.npos;
  });
}

class CharBpeEncoder : public Encoder {
 public:
  explicit CharBpeEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        segments_(vocabulary),
        words_stand_alone_(text::words_stand_alone(vocabulary, segments_)) {
    const TokenizerModel& model = vocabulary.model();
    model.scores.empty() ? void(merges_.emplace(vocabulary)) : void(scored_merges_.emplace(segments_));
    if (model.spaced_words) spaced_words_.emplace(model);
  }

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    if (text.empty()) return;
    auto cache = caches_.take();
    Scratch scratch;
    if (spaced_words_) {
      spaced_words_->for_each_part(
          text, [] {},
          [&](std::size_t begin, std::size_t end) {
            cache->encode(text, begin, end, ids,
                          [&](std::string_view part) { at_offset(begin, [&] { encode_spaced(part, scratch, ids); }); });
          });
    } else {
      const std::string spaced = with_spaces(text);
      for (std::size_t begin = 0; begin < spaced.size();) {
        const std::size_t end = word_end(spaced, begin);
        cache->encode(spaced, begin, end, ids,
                      [&](std::string_view word) { at_offset(0, [&] { encode_word(word, scratch, {ids}); }); });
        begin = end;
      }
    }
    caches_.give_back(std::move(cache));
  }

  std::optional<std::vector<LocatedToken>> located(std::string_view text) const override {
    std::vector<LocatedToken> tokens;
    if (text.empty()) return tokens;
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
          text, [] {},
          [&](std::size_t begin, std::size_t end) {
            spaced_words_->for_each_word(text.substr(begin, end - begin), scratch.spaced, [&](std::string_view word) {
              locate_word(word, scratch.spaced.word_origins, begin);
            });
          });
    } else {
      std::vector<Origin> origins;
      const std::string spaced = with_spaces(text, &origins);
      for (std::size_t begin = 0, end = 0; begin < spaced.size(); begin = end) {
        end = word_end(spaced, begin);
        locate_word(std::string_view(spaced).substr(begin, end - begin), std::span(origins).subspan(begin), 0);
      }
    }
    return tokens;
  }

  // A later part of a text would get a space of its own.
  bool is_boundary(std::string_view text, std::size_t position) const override {
    if (spaced_words_) return spaced_words_->is_boundary(text, position);
    return words_stand_alone_ && !vocabulary_.model().prefix_space && text[position] == ' ' &&
           text[position - 1] != ' ' && !text.substr(0, position).ends_with(space_mark);
  }

 private:
  struct Scratch {
    std::vector<TokenId> tokens;
    SpacedWords::Scratch spaced;
  };

  // Place of text that has no token, as far as it is known.
  template <class Encode>
  static void at_offset(std::size_t offset, const Encode& encode) {
    try {
      encode();
    } catch (const NoToken& error) {
      throw NoToken(offset, error.what());
    }
  }

  void encode_spaced(std::string_view part, Scratch& scratch, std::vector<TokenId>& ids) const {
    check_spaced_text(vocabulary_, part);
    spaced_words_->for_each_word(part, scratch.spaced,
                                 [&](std::string_view word) { encode_word(word, scratch, {ids}); });
  }

  void encode_word(std::string_view word, Scratch& scratch, const TokenOutput& output) const {
    if (scored_merges_) return scored_merges_->encode(word, output);
    scratch.tokens.clear();
    for (std::size_t at = 0; at < word.size();) at += append_character(word, at, scratch.tokens);
    const std::size_t before = output.ids.size();
    merges_->encode(std::span<const TokenId>(scratch.tokens), output.ids);
    if (output.sizes == nullptr) return;
    for (std::size_t i = before; i < output.ids.size(); ++i) {
      output.sizes->push_back(vocabulary_.bytes(output.ids[i]).size());
    }
  }

  // Marks of spaces in a text are spaces too.
  std::string with_spaces(std::string_view text, std::vector<Origin>* origins = nullptr) const {
    std::string spaced(vocabulary_.model().prefix_space ? 1 : 0, ' ');
    if (origins != nullptr) origins->assign(spaced.size(), {0, 0});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t mark = std::min(text.find(space_mark, at), text.size());
      spaced += text.substr(at, mark - at);
      if (mark < text.size()) spaced += ' ';
      if (origins != nullptr) {
        for (; at < mark; ++at) origins->push_back({at, at + 1});
        if (mark < text.size()) origins->push_back({mark, mark + space_mark.size()});
      }
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
  Segments segments_;
  std::optional<Merges> merges_;
  std::optional<ScoredMerges> scored_merges_;
  std::optional<SpacedWords> spaced_words_;
  bool words_stand_alone_;
  mutable WordCaches caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_char_bpe_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<CharBpeEncoder>(vocabulary);
}

}  // namespace heddle::text
