// Pairs of corrupted texts and what restores them, made of a token stream: other ones in every epoch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/data/noise.hpp"
#include "libcore/data/token_source.hpp"

namespace heddle::data {

// Each document is cut into as few pieces as have at most `most` tokens each, of like lengths, and a pair is made of
// each piece. Special tokens of the stream, also those that end documents, and white space at the end of a document are
// in no pair. A document of fewer than two tokens is left out. The corruption of pair i in an epoch is a function of
// (seed, epoch, i).
class NoisyPairs : public PairSource {
 public:
  struct Text {
    const TokenSource& tokens;  // must stay
    Index most;                 // tokens of a piece
  };
  // A part of the stream with a weight of 2 gives two pairs for each piece, with different noise. Throws DataError for
  // a stream without a document to corrupt and for pieces with more spans than there are sentinels, UsageError for
  // weights that are not whole.
  NoisyPairs(const Text& text, NoiseVocabulary vocabulary, const NoiseOptions& options, std::uint64_t seed);

  Index size() const override { return static_cast<Index>(pieces_.size()); }
  Index source_vocab_size() const override { return vocabulary_.size(); }
  Index target_vocab_size() const override { return vocabulary_.size(); }
  // At most.
  Index source_length(Index pair) const override;
  Index target_length(Index pair) const override;
  // The pair in the first epoch.
  std::vector<TokenId> source(Index pair) const override { return in_epoch(pair, 0).source; }
  std::vector<TokenId> target(Index pair) const override { return in_epoch(pair, 0).target; }
  TokenPair in_epoch(Index pair, Index epoch) const override;

  Index left_out() const { return left_out_; }  // documents
  std::string name() const override { return tokens_.name(); }
  const TokenSource& tokens() const { return tokens_; }
  // Start of a pair's piece in the stream.
  Index offset_of(Index pair) const { return at(pair).begin; }

 private:
  struct Piece {
    Index begin, count;  // tokens of the stream
    bool ends_document;
  };
  void cut(Index begin, Index length, Index most);
  void repeat_parts();
  const Piece& at(Index pair) const;
  std::vector<TokenId> text_of(const Piece& piece) const;

  const TokenSource& tokens_;
  NoiseVocabulary vocabulary_;
  NoiseOptions options_;
  std::uint64_t seed_;
  std::vector<Piece> pieces_;
  Index left_out_ = 0;
};

}  // namespace heddle::data
