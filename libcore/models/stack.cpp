#include "heddle/models/stack.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::models {

namespace {

nn::BlockOptions block_options(const ModelConfig& config) {
  const nn::Bias bias = config.bias ? nn::Bias::yes : nn::Bias::no;
  const double deviation = projection_deviation(config);
  const double output = deviation / std::sqrt(2.0 * static_cast<double>(std::max<Index>(1, config.layers)));
  return {.norm_position = config.norm_position,
          .norm = norm_options(config),
          .attention = {config.attention, config.width, config.heads, bias, deviation, output},
          .feed_forward = {config.width, config.inner_width(), config.activation, bias, deviation, output}};
}

std::optional<nn::Embedding> segment_embedding(const Scope& scope, const ModelConfig& config) {
  if (config.segments == 0) return std::nullopt;
  return nn::Embedding(scope / "segment", config.segments, config.width, embedding_deviation);
}

std::optional<nn::Norm> norm_if(bool wanted, const Scope& scope, const ModelConfig& config) {
  if (!wanted) return std::nullopt;
  return nn::Norm(scope / "norm", config.width, norm_options(config));
}

std::vector<nn::Block> blocks_of(const Scope& scope, const ModelConfig& config) {
  std::vector<nn::Block> stack;
  for (Index i = 0; i < config.layers; ++i) stack.emplace_back(scope / i, block_options(config));
  return stack;
}

void check_sequences(const Sequences& sequences) {
  const Shape& shape = sequences.ids.shape;
  check<ShapeError>(shape.rank() == 2, "ids of shape ", shape, " instead of [batch, time]");
  check<ShapeError>(sequences.lengths.empty() || static_cast<Index>(sequences.lengths.size()) == shape[0],
                    sequences.lengths.size(), " lengths for ids of shape ", shape);
  check<ShapeError>(sequences.segments.empty() || sequences.segments.size() == sequences.ids.ids.size(),
                    sequences.segments.size(), " segments for ids of shape ", shape);
  for (const Index length : sequences.lengths) {
    check<ShapeError>(length >= 1 && length <= shape[1], "a sequence of ", length, " of ", shape[1], " tokens");
  }
}

}  // namespace

double projection_deviation(const ModelConfig& config) {
  return 0.02 * std::sqrt(768.0 / static_cast<double>(config.width));
}

nn::NormOptions norm_options(const ModelConfig& config) {
  return {config.norm, config.norm_epsilon, config.bias ? nn::Bias::yes : nn::Bias::no};
}

Stack::Stack(const Scope& scope, const ModelConfig& config)
    : tokens_(scope / "embedding" / "token", config.vocab_size, config.width, embedding_deviation),
      token_scale_(config.positions == PositionKind::sinusoidal
                       ? static_cast<Real>(std::sqrt(static_cast<double>(config.width)))
                       : Real(1)),
      positions_(scope / "embedding" / "position",
                 {config.positions, config.context, config.width, config.position_offset}, embedding_deviation),
      segments_(segment_embedding(scope / "embedding", config)),
      embedding_norm_(norm_if(config.embedding_norm, scope / "embedding", config)),
      blocks_(blocks_of(scope, config)),
      norm_(norm_if(config.norm_position == NormPosition::pre, scope, config)),
      dropout_site_(random_site(scope.path() + "/embedding/dropout")) {}

Variable Stack::embed(const Sequences& sequences, const std::vector<Index>& starts) const {
  check_sequences(sequences);
  Variable x = tokens_(sequences.ids);
  if (token_scale_ != 1) x = ops::scale(x, token_scale_);
  x = positions_(x, starts);
  if (segments_) {
    TokenIds segments(sequences.ids.shape);
    if (!sequences.segments.empty()) segments.ids = sequences.segments;
    x = ops::add(x, (*segments_)(segments));
  } else {
    const bool all_zero = std::ranges::all_of(sequences.segments, [](TokenId segment) { return segment == 0; });
    check<DataError>(all_zero, "the model has no embeddings of segments");
  }
  return embedding_norm_ ? (*embedding_norm_)(x, nn::Norm::Result::residual) : x;
}

Variable Stack::finish(const Variable& x) const {
  return norm_ ? (*norm_)(x, nn::Norm::Result::activation) : x;
}

Variable Stack::hidden(const Sequences& sequences, Mask mask, const Pass& pass, const Observer& observe) const {
  Variable x = pass.drop(embed(sequences, {}), dropout_site_);
  mask.key_lengths = sequences.lengths;
  for (const nn::Block& block : blocks_) {
    if (observe) observe(x);
    x = block(x, mask, pass);
  }
  x = finish(x);
  if (observe) observe(x);
  return x;
}

Variable Stack::hidden_at(const std::vector<Index>& positions, const Sequences& sequences, Mask mask,
                          const Pass& pass) const {
  if (blocks_.empty()) return ops::gather_positions(hidden(sequences, std::move(mask), pass), positions);
  Variable x = pass.drop(embed(sequences, {}), dropout_site_);
  mask.key_lengths = sequences.lengths;
  for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) x = blocks_[i](x, mask, pass);
  return finish(blocks_.back().at(positions, x, mask, pass));
}

}  // namespace heddle::models
