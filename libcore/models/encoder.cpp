#include "heddle/models/encoder.hpp"

#include "heddle/models/architecture.hpp"
#include "heddle/nn/parts.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::models {

namespace {

std::optional<nn::Linear> linear_if(bool wanted, const Scope& scope, const EncoderConfig& config, Index out) {
  if (!wanted) return std::nullopt;
  return nn::Linear(scope, config.width, out, bias_of(config), projection_stddev(config.width));
}

heads::MaskedLanguageModel head_for(const Scope& scope, const EncoderConfig& config, const nn::Embedding& tokens) {
  const heads::MaskedLanguageModelOptions options{
      config.vocab_size,    config.width,    from_text<Activation>(config.activation),
      norm_options(config), bias_of(config), projection_stddev(config.width),
      embedding_stddev};
  if (config.tie_embeddings) return {scope, options, tokens};
  return {scope, options};
}

EncoderConfig bert(Index layers, Index width, Index heads) {
  EncoderConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.context = 512;
  config.vocab_size = 30522;
  config.activation = "gelu";
  config.block = "post";
  config.norm_epsilon = 1e-12;
  config.dropout = 0.1;
  config.segments = 2;
  config.embedding_norm = true;
  config.pooler = true;
  return config;
}

EncoderConfig roberta() {
  EncoderConfig config = bert(12, 768, 12);
  config.vocab_size = 50265;
  config.norm_epsilon = 1e-5;
  config.segments = 1;
  config.positions = "learned:offset=2";
  return config;
}

// BERT with relative positions on keys (Huang et al. 2020, "Improve transformer models with better relative position
// embeddings", method 3, which is Shaw's), as its authors released it.
EncoderConfig relative_bert() {
  EncoderConfig config = bert(12, 768, 12);
  config.positions = "relative-vector:reach=511";
  config.context = 0;
  return config;
}

// He et al. 2021, "DeBERTa", and its released configuration; see positions/disentangled.cpp for what differs.
EncoderConfig deberta() {
  EncoderConfig config = bert(12, 768, 12);
  config.vocab_size = 50265;
  config.norm_epsilon = 1e-7;
  config.segments = 0;
  config.positions = "disentangled";
  config.context = 0;
  return config;
}

}  // namespace

void EncoderConfig::check(Naming naming) const {
  check_transformer(*this, {}, naming);
  heddle::check<UsageError>(!next_sentence || (pooler && segments >= 2), named("next_sentence", naming),
                            " needs a pooler and at least 2 segments");
}

Encoder::Encoder(const EncoderConfig& config, ParameterSource weights)
    : StackModel(config, std::move(weights), {.causal = false, .needed = {}}),
      pooler_(linear_if(config.pooler, scope("encoder/pooler"), config, config.width)),
      head_(head_for(scope("head"), config, embeddings().tokens())),
      next_sentence_(linear_if(config.next_sentence, scope("head/next_sentence"), config, 2)) {}

Variable Encoder::summary(const Variable& first) const {
  const Variable rows = ContextualVectors::summary(first);
  const Part part(nn::parts::pooler);
  return pooler_ ? (*pooler_)(rows, {.activation = Activation::tanh}) : rows;
}

Variable Encoder::next_sentence(const Variable& hidden) const {
  if (!next_sentence_) return MaskedPredictor::next_sentence(hidden);
  const std::vector<Index> first(static_cast<std::size_t>(hidden.shape()[0]), 0);
  const Variable rows = summary(ops::gather_positions(hidden, first));
  const Part part(nn::parts::output);
  return (*next_sentence_)(rows, {.output = DType::real});
}

Architecture describe_Encoder() {  // Source: Devlin et al. 2019, "BERT", section 3, and Liu et al. 2019, "RoBERTa",
                                   // with the context, epsilons and positions
  // of the models that they published.
  return describe<Encoder, EncoderConfig>({
      {"bert-base", "BERT, 109 M parameters without the head", bert(12, 768, 12)},
      {"bert-large", "335 M parameters without the head", bert(24, 1024, 16)},
      {"roberta-base", "RoBERTa, 125 M parameters without the head", roberta()},
      {"bert-base-relative", "BERT with relative positions, 110 M parameters without the head", relative_bert()},
      {"deberta-base", "DeBERTa, 139 M parameters without the head", deberta()},
  });
}

}  // namespace heddle::models
