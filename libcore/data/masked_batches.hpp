// Batches of a token stream for predicting masked tokens.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "libcore/data/masking.hpp"
#include "libcore/data/sample_order.hpp"
#include "libcore/data/token_source.hpp"

namespace heddle::data {

struct MaskedBatch {
  Index batch = 0, time = 0;
  std::vector<TokenId> ids;       // [batch, time], padded at the ends of sequences
  std::vector<Index> lengths;     // lengths of the sequences; empty: all are `time` long
  std::vector<TokenId> segments;  // [batch, time]; empty: all are 0
  Index tokens = 0;               // tokens, without padding
  std::vector<Index> rows;        // batch * time + position of each token to predict, in rising order
  std::vector<TokenId> targets;   // the tokens that were there
  std::vector<TokenId>
      unrelated;  // for each pair 1 if the second segment is from elsewhere, else 0; empty without pairs
  std::vector<std::vector<Index>> ranks;  // [batch][time] of permuted windows, those of padding are -1; else empty
};

struct MaskedText {
  Index time;  // length of a sequence, special tokens included
  MaskingOptions masking{};
  bool unrelated_pairs = false;  // pairs of which half have a second segment from elsewhere
  bool has_segments = true;      // if not, pairs have a second separator instead of segments
  // Leaves the tokens as they are and draws an order in which the selected ones are predicted.
  std::optional<PermutationOptions> permutation{};
  std::uint64_t seed = 0;
};

// The stream is cut into windows, which may begin and end within documents and span several (RoBERTa's "full
// sentences"); documents end as the stream has them, with a special token that is never masked. A sequence is
//   classification, window, separator   or, as a pair cut at random,   classification, A, separator, B, separator
// with segment 1 from B on, or, for models without segments, with two separators before B (Liu et al. 2019).
// The last window is shorter. An epoch reads them in the order of a SampleOrder; the masks of sample g are a function
// of (seed, g), static masks of (seed, window).
class MaskedWindows {
 public:
  // Throws DataError for a source without tokens to mask, and UsageError for a time without room for them.
  MaskedWindows(const TokenSource& source, MaskVocabulary vocabulary, const MaskedText& options);

  Index windows_per_epoch() const { return order_->samples_per_epoch(); }
  Index tokens_per_window() const { return body_; }  // tokens of the stream
  // Windows that hold its first tokens; 0: all.
  Index windows_of_first(Index tokens) const {
    const Index all = windows_per_epoch();
    return tokens > 0 ? std::min(all, (tokens + body_ - 1) / body_) : all;
  }
  // Samples [first, first + count).
  MaskedBatch batch(Index first, Index count) const;
  // Start of a sample's window.
  Index offset_of(Index sample) const { return (*order_)(sample).window * body_; }
  const TokenSource& source() const { return source_; }
  // Windows [first, first + count) with the masks of the first epoch, for evaluation.
  MaskedBatch in_order(Index first, Index count) const;

 private:
  using Place = SampleOrder::Place;
  struct Sequence {
    std::vector<TokenId> ids;
    Index first_length;  // length of the first segment, including its special tokens
    Masked masked{};
    TokenId unrelated = 0;
    std::vector<Index> ranks{};
  };
  MaskedBatch batch_of(const std::vector<Place>& places) const;
  Sequence sequence(const Place& place) const;
  void make_unrelated(std::span<TokenId> second, const RandomStream& stream) const;

  const TokenSource& source_;
  MaskVocabulary vocabulary_;
  MaskedText options_;
  bool pairs_;
  Index body_, windows_;
  std::optional<SampleOrder> order_;
};

}  // namespace heddle::data
