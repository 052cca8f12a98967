// Segments, the units that text is split into: the pieces of the vocabulary, or, where a tokenizer has segments apart
// from it, those, each of which stands for the vocabulary's piece of the same bytes, or for the unknown token. So a
// source and a target can be cut in different ways into one vocabulary, as in Marian's models.
#pragma once

#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/piece_trie.hpp"
#include "libcore/text/string_table.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

// Output of encoders: the tokens of a word and, on request, the number of its bytes for each.
struct TokenOutput {
  std::vector<TokenId>& ids;
  std::vector<std::size_t>* sizes = nullptr;

  void add(TokenId id, std::size_t size) const {
    ids.push_back(id);
    if (sizes != nullptr) sizes->push_back(size);
  }
};

class Segments {
 public:
  // The vocabulary must outlive this object. Throws DataError for segments that are empty, equal or not spelled as
  // spelling.hpp says.
  explicit Segments(const Vocabulary& vocabulary);

  // Segments are numbered; a piece of the vocabulary by its id.
  std::vector<PieceTrie::Piece> all() const;
  // The segment of these bytes, or no_token.
  TokenId find(std::string_view bytes) const;
  const std::vector<double>& scores() const { return vocabulary_.model().scores; }
  double least_score() const;

  // The token of a segment, or no_token.
  TokenId token(TokenId segment) const { return are_apart() ? tokens_[static_cast<std::size_t>(segment)] : segment; }
  // Appends the tokens of text without a segment: of bytes, where unknown text falls back to them; the piece of these
  // bytes, where segments are apart; or the unknown token. Throws NoToken at the offset.
  void append_unknown(std::string_view text, std::size_t offset, const TokenOutput& output) const;
  // Appends the token of a segment, which is at the offset. Throws NoToken.
  void append(TokenId segment, std::size_t offset, const TokenOutput& output) const;

 private:
  std::string_view bytes(TokenId segment) const {
    return are_apart() ? apart_[static_cast<std::size_t>(segment)] : vocabulary_.bytes(segment);
  }
  bool are_apart() const { return !vocabulary_.model().segments.empty(); }

  const Vocabulary& vocabulary_;
  StringTable apart_;
  std::vector<TokenId> tokens_;  // tokens of the separate segments
};

}  // namespace heddle::text
