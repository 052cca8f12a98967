#include "heddle/models/encoder.hpp"

#include "heddle/ops/gather.hpp"

namespace heddle::models {

namespace {

nn::Bias bias_of(const ModelConfig& config) {
  return config.bias ? nn::Bias::yes : nn::Bias::no;
}

std::optional<nn::Linear> linear_if(bool wanted, const Scope& scope, const ModelConfig& config, Index out) {
  if (!wanted) return std::nullopt;
  return nn::Linear(scope, config.width, out, bias_of(config), projection_deviation(config));
}

heads::MaskedLanguageModel head_for(const Scope& scope, const ModelConfig& config, const nn::Embedding& tokens) {
  const heads::MaskedLanguageModelOptions options{config.vocab_size,    config.width,    config.activation,
                                                  norm_options(config), bias_of(config), projection_deviation(config),
                                                  embedding_deviation};
  if (config.tie_embeddings) return {scope, options, tokens};
  return {scope, options};
}

}  // namespace

Encoder::Encoder(const ModelConfig& config, ParameterSource weights)
    : Model(config, std::move(weights)),
      pooler_(linear_if(config.pooler, scope("encoder/pooler"), config, config.width)),
      head_(head_for(scope("head"), config, stack().tokens())),
      next_sentence_(linear_if(config.next_sentence, scope("head/next_sentence"), config, 2)) {
  check<UsageError>(config.arch == Architecture::encoder, "arch = ", to_text(config.arch), " is no encoder");
}

Variable Encoder::summary(const Variable& first) const {
  const Variable rows = ContextualVectors::summary(first);
  return pooler_ ? (*pooler_)(rows, {.activation = Activation::tanh}) : rows;
}

Variable Encoder::next_sentence(const Variable& hidden) const {
  if (!next_sentence_) return MaskedPredictor::next_sentence(hidden);
  const std::vector<Index> first(static_cast<std::size_t>(hidden.shape()[0]), 0);
  return (*next_sentence_)(summary(ops::gather_positions(hidden, first)), {.output = Element::real});
}

}  // namespace heddle::models
