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

Variable Encoder::pooled(const Variable& hidden) const {
  check<UsageError>(pooler_.has_value(), "the model has no pooler");
  std::vector<Index> first;
  for (Index b = 0; b < hidden.shape()[0]; ++b) first.push_back(b * hidden.shape()[1]);
  return (*pooler_)(ops::gather_rows(hidden, first), {.activation = Activation::tanh});
}

Variable Encoder::next_sentence(const Variable& pooled) const {
  return (*next_sentence_)(pooled, {.output = Element::real});
}

bool is_of_head(std::string_view parameter) {
  return parameter.starts_with("head/");
}

}  // namespace heddle::models
