// Text to token ids and back.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/normaliser.hpp"
#include "libcore/text/offsets.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/special_tokens.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/tokenizer_model.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

// Treatment of text that looks like a special token.
enum class SpecialText {
  token,  // the special token
  plain   // text like any other
};

// Whether a token follows others in a text: some kinds put spaces between words.
enum class TextPlace { begin, inside };

// Copies share everything; all functions may be called from several threads.
class Tokenizer {
 public:
  // Throws DataError for an inconsistent model.
  explicit Tokenizer(TokenizerModel model);

  const TokenizerModel& model() const { return vocabulary_->model(); }
  TokenizerKind kind() const { return model().kind; }
  Index vocab_size() const { return vocabulary_->size(); }
  std::string fingerprint() const { return text::fingerprint(model()); }

  // decode(encode(text)) is the text, byte for byte, unless the unknown token stands for something; a wordpiece
  // tokenizer, and a unigram tokenizer with spaced_words, gives its words with spaces between.
  // The second form appends. Throws TextError where there is no token; bpe, byte and what falls back to bytes have one
  // for every text.
  std::vector<TokenId> encode(std::string_view text, SpecialText special = SpecialText::token) const;
  void encode(std::string_view text, std::vector<TokenId>& ids, SpecialText special = SpecialText::token) const;

  // The same ids with the bytes of the text that each stands for. Bytes that no token stands for (white space and
  // control characters, for wordpiece) are in none. Throws TextError as above, and DataError for tokenizers that change
  // the text in other ways than wordpiece does.
  std::vector<LocatedToken> encode_with_offsets(std::string_view text, SpecialText special = SpecialText::token) const;
  // Calls sink for each of the ids, which must be those of the text. May have done so when it throws that DataError.
  void locate(std::string_view text, std::span<const TokenId> ids, SpecialText special, const LocationSink& sink) const;

  // The text of the ids. The second form appends that of one id, so that ids may be decoded in parts.
  // Throws DataError for an id outside the vocabulary.
  std::string decode(std::span<const TokenId> ids) const;
  void decode(TokenId id, std::string& text, TextPlace place) const;

  // The bytes that one id stands for, and their number; a special token's are its text. Throw like decode.
  std::string_view bytes(TokenId id) const;
  Index token_bytes(TokenId id) const { return static_cast<Index>(bytes(id).size()); }

  // The printable spelling (spelling.hpp), and the id of a spelling.
  const std::string& piece(TokenId id) const;
  std::optional<TokenId> id_of(std::string_view piece) const { return vocabulary_->id_of(piece); }

  bool is_special(TokenId id) const;
  // The first special or added token that the text, before it is normalised, spells at `from` or after it. What lies
  // between such tokens is encoded as if it stood alone.
  std::optional<SpecialTokens::Match> find_special(std::string_view text, std::size_t from) const {
    return all_tokens_->raw.find(text, from);
  }
  std::optional<TokenId> end_of_text() const { return optional_id(model().end_of_text); }
  std::optional<TokenId> unknown() const { return optional_id(model().unknown); }
  std::optional<TokenId> classification() const { return optional_id(model().classification); }
  std::optional<TokenId> separator() const { return optional_id(model().separator); }
  std::optional<TokenId> mask() const { return optional_id(model().mask); }
  std::optional<TokenId> padding() const { return optional_id(model().padding); }

  // True if a text with these bytes around the position, 0 < position < text.size(), can be split there and its parts
  // encoded independently with the same result. Reads boundary_context() bytes on either side.
  bool is_boundary(std::string_view text, std::size_t position, SpecialText special = SpecialText::token) const;
  std::size_t boundary_context() const;

 private:
  void check_id(TokenId id) const;
  // Tokens that are found in the text, and those that are found between them in normalised text.
  struct TokensInText {
    SpecialTokens raw, normal;
  };
  const TokensInText& tokens_in_text(SpecialText special) const {
    return special == SpecialText::token ? *all_tokens_ : *added_tokens_;
  }
  static std::optional<TokenId> optional_id(Index id) {
    return id == no_token ? std::nullopt : std::optional(static_cast<TokenId>(id));
  }
  TokensInText find_tokens(std::initializer_list<const std::vector<Index>*> lists) const;
  void encode_plain(std::string_view text, std::size_t begin, std::size_t end, const SpecialTokens& normal,
                    std::vector<TokenId>& ids) const;
  void locate_plain(std::string_view text, std::span<const TokenId>& ids, const SpecialTokens& normal,
                    const LocationSink& sink) const;
  void locate_normal(std::string_view text, std::span<const TokenId>& ids, const LocationSink& sink) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Normaliser> normaliser_;
  std::shared_ptr<const TokensInText> all_tokens_, added_tokens_;  // special and added ones, or the added ones alone
  std::shared_ptr<const Encoder> encoder_;
};

}  // namespace heddle::text
