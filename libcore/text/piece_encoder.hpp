// The encoder of one kind of tokenizer, for ordinary text without special tokens.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/offsets.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

class Encoder {
 public:
  virtual ~Encoder() = default;

  // Appends the ids. Safe from several threads. Throws NoToken.
  virtual void encode(std::string_view text, std::vector<TokenId>& ids) const = 0;

  // The tokens of the text with their places, of encoders that normalise it; none where tokens are their bytes
  // (locate_tokens).
  virtual std::optional<std::vector<LocatedToken>> located(std::string_view) const { return std::nullopt; }

  // True if every text with these bytes around the position may be split there and its parts encoded independently.
  // Reads four bytes on either side.
  virtual bool is_boundary(std::string_view text, std::size_t position) const = 0;
};

// The tokens of text without a piece. Throws NoToken.
TokenId unknown_token(const Vocabulary& vocabulary, std::string_view text, std::size_t offset);
// Text that is normalised must be UTF-8 unless it falls back to bytes. Throws NoToken at 0.
void check_spaced_text(const Vocabulary& vocabulary, std::string_view text);

// The encoders of the kinds. The vocabulary must outlive them. Throw DataError.
std::unique_ptr<Encoder> make_bpe_encoder(const Vocabulary& vocabulary);
std::unique_ptr<Encoder> make_byte_encoder(const Vocabulary& vocabulary);
std::unique_ptr<Encoder> make_character_encoder(const Vocabulary& vocabulary);
std::unique_ptr<Encoder> make_word_encoder(const Vocabulary& vocabulary);
std::unique_ptr<Encoder> make_wordpiece_encoder(const Vocabulary& vocabulary);
std::unique_ptr<Encoder> make_unigram_encoder(const Vocabulary& vocabulary);
std::unique_ptr<Encoder> make_char_bpe_encoder(const Vocabulary& vocabulary);

}  // namespace heddle::text
