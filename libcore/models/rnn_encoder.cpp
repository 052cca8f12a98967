#include "libcore/models/rnn_encoder.hpp"

#include "libcore/ops/concatenate.hpp"

namespace heddle::models {

namespace {

// Embeddings as a layer of the encoder, which may be wider: with zeros in the other columns.
Variable widened(const Variable& x, Index width) {
  const Index own = x.shape()[2];
  if (own == width) return x;
  check<DataError>(own < width, "the token embeddings are ", own, " wide and the encoder's states ", width,
                   ", so they are no layer of the encoder");
  const Tensor zeros({x.shape()[0], x.shape()[1], width - own}, Real(0));
  return ops::concatenate({x, Variable(zeros)}, -1);
}

}  // namespace

RnnEncoder::RnnEncoder(const Scope& scope, const RnnConfig& config)
    : annotation_width_(config.annotation_width()),
      reverse_(config.reverse_source),
      both_ends_(config.bidirectional && !config.has_attention()) {
  const ops::Cell& cell = ops::cell(config.cell);
  const Index width = config.annotation_width() / (config.bidirectional ? 2 : 1);
  const nn::RecurrentOptions options = config.options(cell, config.bias ? nn::Bias::yes : nn::Bias::no);
  for (Index i = 0; i < config.encoder_depth(); ++i) {
    const Scope layer = scope / i;
    const Index in = i == 0 ? config.embedding() : config.annotation_width();
    std::optional<nn::Recurrent> backward;
    nn::Recurrent forward(layer / "forward", cell, in, width, options);
    if (config.bidirectional) backward.emplace(layer / "backward", cell, in, width, options);
    layers_.push_back({std::move(forward), std::move(backward), random_site(layer.path() + "/dropout")});
  }
}

RnnEncoder::Result RnnEncoder::operator()(const Variable& embeddings, const std::vector<Index>& lengths,
                                          const Pass& pass, const ContextualVectors::Observer& observe) const {
  Result result;
  Variable x = embeddings;
  if (observe) observe(widened(x, annotation_width_));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const ops::RecurrentResult forward = layer.forward(x, {.lengths = lengths, .reverse = reverse_});
    result.last.push_back({forward.last});
    if (layer.backward) {
      const ops::RecurrentResult backward = (*layer.backward)(x, {.lengths = lengths, .reverse = true});
      result.last.back().push_back(backward.last);
      x = ops::concatenate({forward.hidden, backward.hidden}, -1);
    } else {
      x = forward.hidden;
    }
    x = pass.drop(x, layer.dropout_site);
    if (observe) observe(x);
  }
  result.annotations = x;
  const auto& ends = result.last.back();
  result.vector = ends.back().front();
  if (both_ends_) result.vector = ops::concatenate({ends.front().front(), result.vector}, -1);
  return result;
}

namespace {

void check_recurrent(const RnnConfig& config) {
  heddle::check<UsageError>(!config.bidirectional || config.annotation_width() % 2 == 0,
                            "`encoder_width` = ", config.annotation_width(), " is not divisible by the 2 directions");
  heddle::check<UsageError>(!config.bidirectional || !config.reverse_source,
                            "`reverse_source`: a bidirectional encoder reads both ways");
}

}  // namespace

SourceEncoderKind describe_RnnEncoder() {
  return {.annotates = true,
          .has_states = true,
          .make = [](Settings&, const Scope& scope, const RnnConfig& config) -> std::unique_ptr<SourceEncoder> {
            return std::make_unique<RnnEncoder>(scope, config);
          },
          .check = check_recurrent};
}

}  // namespace heddle::models
