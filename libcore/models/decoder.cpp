#include "heddle/models/decoder.hpp"

#include <algorithm>

#include "heddle/tensor/matmul.hpp"

namespace heddle::models {

namespace {

heads::LanguageModel head_for(const Scope& scope, const ModelConfig& config, const nn::Embedding& tokens) {
  if (config.tie_embeddings) return heads::LanguageModel(tokens);
  return {scope, config.vocab_size, config.width, embedding_deviation};
}

}  // namespace

void DecoderState::reorder(const std::vector<Index>& rows) {
  std::vector<Index> seen;
  for (const Index row : rows) seen.push_back(seen_.at(static_cast<std::size_t>(row)));
  seen_ = seen;
  for (const auto& layer : layers_) layer->reorder(rows);
}

Decoder::Decoder(const ModelConfig& config, ParameterSource weights)
    : Model(config, std::move(weights)), head_(head_for(scope("head"), config, stack().tokens())) {
  check<UsageError>(config.arch == Architecture::decoder, "arch = ", to_text(config.arch), " is no decoder");
}

DecoderState Decoder::start(Index batch, Index capacity, Element cache) const {
  check<DataError>(capacity <= config().context, capacity, " tokens are more than the context of ", config().context);
  DecoderState state;
  state.seen_.assign(static_cast<std::size_t>(batch), 0);
  for (const nn::Block& block : stack().blocks()) state.layers_.push_back(block.start(batch, capacity, cache));
  return state;
}

Tensor Decoder::step(const TokenIds& ids, const std::vector<Index>& added, DecoderState& state) const {
  const Index batch = state.batch(), width = config().width;
  check<ShapeError>(ids.shape.rank() == 2 && ids.shape[0] == batch && static_cast<Index>(added.size()) == batch,
                    "a step of shape ", ids.shape, " for a batch of ", batch);
  for (const Index count : added) {
    check<ShapeError>(count >= 1 && count <= ids.shape[1], "a row adds ", count, " of ", ids.shape[1], " tokens");
  }
  const RowKernelsScope kernels(ids.shape[1] == 1 ? RowKernels::few : RowKernels::many);
  Tensor x = stack().embed(ids, state.seen_).value();
  const nn::StepRows rows{state.seen_, added};
  for (std::size_t i = 0; i < state.layers_.size(); ++i) {
    x = stack().blocks()[i].step(x, rows, config().window, *state.layers_[i]);
  }
  const Tensor last({batch, width});
  for (Index b = 0; b < batch; ++b) {
    const auto row = static_cast<std::size_t>(b);
    const Tensor from = x.narrowed(0, b, 1).narrowed(1, added[row] - 1, 1);
    std::copy_n(from.data(), width, last.data() + b * width);
    state.seen_[row] += added[row];
  }
  return logits(stack().finish(Variable(last))).value();
}

}  // namespace heddle::models
