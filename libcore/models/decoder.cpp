#include "heddle/models/decoder.hpp"

#include <algorithm>

#include "heddle/tensor/matmul.hpp"

namespace heddle::models {

namespace {

heads::LanguageModel head_for(const Scope& scope, const ModelConfig& config, const nn::Embedding& tokens) {
  if (config.tie_embeddings) return heads::LanguageModel(tokens);
  return {scope, config.vocab_size, config.width, embedding_deviation};
}

struct DecoderState : GeneratorState {
  explicit DecoderState(Index batch) : GeneratorState(batch) {}
  void reorder_layers(const std::vector<Index>& rows) override {
    for (const auto& layer : layers) layer->reorder(rows);
  }
  void add_seen(std::size_t row, Index count) { seen_[row] += count; }
  std::vector<std::unique_ptr<AttentionState>> layers;
};

}  // namespace

Decoder::Decoder(const ModelConfig& config, ParameterSource weights)
    : Model(config, std::move(weights)), head_(head_for(scope("head"), config, stack().tokens())) {
  check<UsageError>(config.arch == Architecture::decoder, "arch = ", to_text(config.arch), " is no decoder");
}

std::unique_ptr<GeneratorState> Decoder::start(const GenerationStart& start) const {
  check<DataError>(start.capacity <= config().context, start.capacity, " tokens are more than the context of ",
                   config().context);
  auto state = std::make_unique<DecoderState>(start.batch);
  for (const nn::Block& block : stack().blocks()) {
    state->layers.push_back(block.start(start.batch, start.capacity, start.cache));
  }
  return state;
}

Tensor Decoder::step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state_of) const {
  auto& state = dynamic_cast<DecoderState&>(state_of);
  const Index batch = state.batch(), width = config().width;
  check<ShapeError>(ids.shape.rank() == 2 && ids.shape[0] == batch && static_cast<Index>(added.size()) == batch,
                    "a step of shape ", ids.shape, " for a batch of ", batch);
  for (const Index count : added) {
    check<ShapeError>(count >= 1 && count <= ids.shape[1], "a row adds ", count, " of ", ids.shape[1], " tokens");
  }
  const RowKernelsScope kernels(ids.shape[1] == 1 ? RowKernels::few : RowKernels::many);
  Tensor x = stack().embed(ids, state.seen()).value();
  const nn::StepRows rows{state.seen(), added};
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    x = stack().blocks()[i].step(x, rows, config().window, *state.layers[i]);
  }
  const Tensor last({batch, width});
  for (Index b = 0; b < batch; ++b) {
    const auto row = static_cast<std::size_t>(b);
    const Tensor from = x.narrowed(0, b, 1).narrowed(1, added[row] - 1, 1);
    std::copy_n(from.data(), width, last.data() + b * width);
    state.add_seen(row, added[row]);
  }
  return head_(stack().finish(Variable(last))).value();
}

}  // namespace heddle::models
