// Batches of a token stream for predicting each next token.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/data/sample_order.hpp"
#include "libcore/data/token_source.hpp"

namespace heddle::data {

// Token ids [batch, time] in row-major order, and for each the id that follows it; -1 for no target.
struct TokenBatch {
  Index batch = 0, time = 0;
  std::vector<TokenId> ids, targets;
};

// Training windows. An epoch shifts the text by a random offset, cuts it into windows of `time` tokens and reads them
// in the order of a SampleOrder; or, with streams, it cuts it into as many parts of equal length and reads each in
// order, so that sample g continues sample g - streams.
class TrainingWindows {
 public:
  // Throws DataError when the source has no window of time + 1 tokens, or fewer than streams, and for parts of the
  // source that are not read once an epoch, which streams cannot do.
  TrainingWindows(const TokenSource& source, Index time, std::uint64_t seed, Index streams = 0);

  Index windows_per_epoch() const { return order_ ? order_->samples_per_epoch() : windows_; }
  // Windows that the sample's stream has read in the same epoch before it.
  Index windows_before(Index sample) const { return sample % windows_ / streams_; }
  // Samples [first, first + batch).
  TokenBatch batch(Index first, Index batch) const;
  // Start of a sample's window.
  Index offset_of(Index sample) const;
  const TokenSource& source() const { return source_; }

 private:
  SampleOrder::Place in_stream(Index sample) const;

  const TokenSource& source_;
  Index time_, streams_;
  Index windows_;  // windows in the text
  Index slack_;
  std::uint64_t seed_;
  std::optional<SampleOrder> order_;  // none with streams
};

// Windows of an evaluation.
struct EvaluationWindows {
  Index time;        // tokens of a window
  Index batch;       // windows at once
  Index limit = 0;   // only so many tokens of the source; 0: all
  Index stride = 0;  // from the start of one window to that of the next, at most `time`; 0: time
};

// Calls body(batch) for batches that predict each token but the first exactly once, in order: windows of which each
// predicts what those before it have not, so that with a smaller stride a token has more tokens before it in its
// window. The last window may be shorter and is a batch of its own.
void for_each_evaluation_batch(const TokenSource& source, const EvaluationWindows& windows,
                               const std::function<void(const TokenBatch&)>& body);

}  // namespace heddle::data
