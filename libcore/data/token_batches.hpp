// Batches of a token stream for predicting each next token.
#pragma once

#include <functional>
#include <vector>

#include "heddle/data/sample_order.hpp"
#include "heddle/data/token_source.hpp"

namespace heddle::data {

// Token ids [batch, time] in row-major order, and for each the id that follows it; -1 for no target.
struct TokenBatch {
  Index batch = 0, time = 0;
  std::vector<TokenId> ids, targets;
};

// Training windows. An epoch shifts the stream by a random offset, cuts it into windows of `time` tokens and reads them
// in the order of a SampleOrder.
class TrainingWindows {
 public:
  // Throws DataError when the source has no window of time + 1 tokens.
  TrainingWindows(const TokenSource& source, Index time, std::uint64_t seed);

  Index windows_per_epoch() const { return order_.samples_per_epoch(); }
  // Samples [first, first + batch).
  TokenBatch batch(Index first, Index batch) const;
  // Where the window of a sample begins.
  Index offset_of(Index sample) const;
  const TokenSource& source() const { return source_; }

 private:
  const TokenSource& source_;
  Index time_, slack_;
  std::uint64_t seed_;
  SampleOrder order_;
};

// Calls body(batch) for batches that predict each of the first `limit` tokens but the first exactly once (0: all), each
// window starting where the last one ended. The last window may be shorter and is a batch of its own.
void for_each_evaluation_batch(const TokenSource& source, Index time, Index batch, Index limit,
                               const std::function<void(const TokenBatch&)>& body);

}  // namespace heddle::data
