#include "heddle/models/decoder.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/ops/arithmetic.hpp"

namespace heddle::models {

namespace {

constexpr double embedding_deviation = 0.02;

// GPT-2's 0.02 at GPT-2's width, and for other widths what keeps a projection's output as large.
double projection_deviation(const ModelConfig& config) {
  return 0.02 * std::sqrt(768.0 / static_cast<double>(config.width));
}

const ModelConfig& checked(const ModelConfig& config) {
  check_config(config);
  check<UsageError>(config.vocab_size > 0, "a model needs a vocabulary: give vocab_size");
  return config;
}

nn::NormOptions norm_options(const ModelConfig& config) {
  return {config.norm, config.norm_epsilon, config.bias ? nn::Bias::yes : nn::Bias::no};
}

nn::BlockOptions block_options(const ModelConfig& config) {
  const nn::Bias bias = config.bias ? nn::Bias::yes : nn::Bias::no;
  const double deviation = projection_deviation(config);
  const double output = deviation / std::sqrt(2.0 * static_cast<double>(std::max<Index>(1, config.layers)));
  return {.norm_position = config.norm_position,
          .norm = norm_options(config),
          .attention = {config.attention, config.width, config.heads, bias, deviation, output},
          .feed_forward = {config.width, config.inner_width(), config.activation, bias, deviation, output}};
}

std::vector<nn::Block> blocks(const Scope& scope, const ModelConfig& config) {
  std::vector<nn::Block> stack;
  for (Index i = 0; i < config.layers; ++i) stack.emplace_back(scope / i, block_options(config));
  return stack;
}

std::optional<nn::Norm> final_norm(const Scope& scope, const ModelConfig& config) {
  if (config.norm_position == NormPosition::post) return std::nullopt;
  return nn::Norm(scope / "norm", config.width, norm_options(config));
}

heads::LanguageModel head_for(Parameters& parameters, const ModelConfig& config, const nn::Embedding& tokens) {
  if (config.tie_embeddings) return heads::LanguageModel(tokens);
  return {Scope(parameters, "head"), config.vocab_size, config.width, embedding_deviation};
}

}  // namespace

void DecoderState::reorder(const std::vector<Index>& rows) {
  std::vector<Index> seen;
  for (const Index row : rows) seen.push_back(seen_.at(static_cast<std::size_t>(row)));
  seen_ = seen;
  for (const auto& layer : layers_) layer->reorder(rows);
}

Decoder::Decoder(const ModelConfig& config, ParameterSource weights)
    : config_(checked(config)), parameters_(std::make_unique<Parameters>(std::move(weights))),
      tokens_(Scope(*parameters_, "decoder/embedding/token"), config.vocab_size, config.width,
              embedding_deviation),
      positions_(Scope(*parameters_, "decoder/embedding/position"), config.positions, config.context, config.width,
                 embedding_deviation),
      blocks_(blocks(Scope(*parameters_, "decoder"), config)),
      norm_(final_norm(Scope(*parameters_, "decoder"), config)), head_(head_for(*parameters_, config, tokens_)) {}

Variable Decoder::embed(const TokenIds& ids, const std::vector<Index>& starts) const {
  check<ShapeError>(ids.shape.rank() == 2, "ids of shape ", ids.shape, " instead of [batch, time]");
  Variable x = tokens_(ids);
  if (config_.positions == PositionKind::sinusoidal) {
    x = ops::scale(x, static_cast<Real>(std::sqrt(static_cast<double>(config_.width))));
  }
  return positions_(x, starts);
}

Variable Decoder::hidden(const TokenIds& ids, const Pass& pass) const {
  static const std::uint64_t site = random_site("decoder/embedding/dropout");
  Variable x = pass.drop(embed(ids, {}), site);
  const Mask mask{.causal = true, .window = config_.window};
  for (const nn::Block& block : blocks_) x = block(x, mask, pass);
  return norm_ ? (*norm_)(x, nn::Norm::Result::activation) : x;
}

DecoderState Decoder::start(Index batch, Index capacity, Element cache) const {
  check<DataError>(capacity <= config_.context, capacity, " tokens are more than the context of ", config_.context);
  DecoderState state;
  state.seen_.assign(static_cast<std::size_t>(batch), 0);
  for (const nn::Block& block : blocks_) state.layers_.push_back(block.start(batch, capacity, cache));
  return state;
}

Tensor Decoder::step(const TokenIds& ids, const std::vector<Index>& added, DecoderState& state) const {
  const Index batch = state.batch(), width = config_.width;
  check<ShapeError>(ids.shape.rank() == 2 && ids.shape[0] == batch && static_cast<Index>(added.size()) == batch,
                    "a step of shape ", ids.shape, " for a batch of ", batch);
  for (const Index count : added) {
    check<ShapeError>(count >= 1 && count <= ids.shape[1], "a row adds ", count, " of ", ids.shape[1], " tokens");
  }
  Tensor x = embed(ids, state.seen_).value();
  const nn::StepRows rows{state.seen_, added};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i].step(x, rows, config_.window, *state.layers_[i]);
  }
  const Tensor last({batch, width});
  for (Index b = 0; b < batch; ++b) {
    const auto row = static_cast<std::size_t>(b);
    const Tensor from = x.narrowed(0, b, 1).narrowed(1, added[row] - 1, 1);
    std::copy_n(from.data(), width, last.data() + b * width);
    state.seen_[row] += added[row];
  }
  const Variable normed = norm_ ? (*norm_)(Variable(last), nn::Norm::Result::activation) : Variable(last);
  return logits(normed).value();
}

}  // namespace heddle::models
