#include "libcore/decoding/fill_masks.hpp"

#include <algorithm>

#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/logits.hpp"
#include "libcore/models/task_batch.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::decoding {

namespace {

// Masks whose logits are in memory at the same time.
constexpr std::size_t masks_at_once = 256;

// One entry per masked row of the batch.
std::vector<std::vector<LikelyToken>> fill_batch(const models::MaskedPredictor& model, models::TaskExamples batch,
                                                 const LikelyOptions& options) {
  // Two positions at least, since single queries are mixed in another way, and neighbours must not decide that.
  const models::Sequences sequences = models::sequences_of(batch, std::min<Index>(2, model.position_limit()));
  const std::vector<Index> rows = models::positions_of(batch, sequences.ids.shape[1]);
  const RowKernelsScope kernels(RowKernels::many);
  const Variable hidden = model.masked_hidden(sequences);
  const Index vocab = model.vocab_size();
  std::vector<std::vector<LikelyToken>> result(rows.size());
  for (std::size_t begin = 0; begin < rows.size(); begin += masks_at_once) {
    const std::size_t end = std::min(rows.size(), begin + masks_at_once);
    const std::vector<Index> part(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                  rows.begin() + static_cast<std::ptrdiff_t>(end));
    const Tensor logits = model.masked_token_head()(ops::gather_rows(hidden, part)).value();
    parallel_for(static_cast<Index>(part.size()), [&](Index row) {
      const Real* const values = logits.data() + row * vocab;
      result[begin + static_cast<std::size_t>(row)] = most_likely(values, vocab, log_sum_exp(values, vocab), options);
    });
  }
  return result;
}

}  // namespace

std::vector<std::vector<std::vector<LikelyToken>>> fill_masks(const models::MaskedPredictor& model,
                                                              std::span<const data::TaskExample> sequences,
                                                              const LikelyOptions& options) {
  using Filled = std::vector<std::vector<LikelyToken>>;
  std::vector<std::size_t> with_masks;
  std::vector<Index> lengths;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].positions.empty()) continue;
    with_masks.push_back(i);
    lengths.push_back(static_cast<Index>(sequences[i].sequence.ids.size()));
  }
  const auto body = [&](std::span<const std::size_t> numbers, std::vector<Filled>& all) {
    std::vector<const data::TaskExample*> batch;
    for (const std::size_t number : numbers) batch.push_back(&sequences[with_masks[number]]);
    auto next = fill_batch(model, batch, options);
    auto from = std::make_move_iterator(next.begin());
    for (const std::size_t number : numbers) {
      const auto to = from + static_cast<std::ptrdiff_t>(sequences[with_masks[number]].positions.size());
      all[number].assign(from, to);
      from = to;
    }
    return true;
  };
  std::vector<Filled> found = results_of_length_batches<Filled>(lengths, options.batch_tokens, body);
  std::vector<Filled> filled(sequences.size());
  for (std::size_t i = 0; i < with_masks.size(); ++i) filled[with_masks[i]] = std::move(found[i]);
  return filled;
}

}  // namespace heddle::decoding
