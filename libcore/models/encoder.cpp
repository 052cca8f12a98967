#include "libcore/models/encoder.hpp"

#include <algorithm>

#include "libcore/models/architecture.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::models {

namespace {

std::optional<nn::Linear> linear_if(bool wanted, const Scope& scope, const EncoderConfig& config, Index out) {
  if (!wanted) return std::nullopt;
  return nn::Linear(scope, config.width, out, bias_of(config), projection_stddev(config.width));
}

heads::MaskedLanguageModel head_for(const Scope& scope, const EncoderConfig& config, const nn::Embedding& tokens) {
  const Index width = config.has_generator() ? config.generator_width : config.width;
  const heads::MaskedLanguageModelOptions options{.vocab = config.vocab_size,
                                                  .width = width,
                                                  .activation = from_text<Activation>(config.activation),
                                                  .norm = norm_options(config),
                                                  .bias = bias_of(config),
                                                  .stddev = projection_stddev(width),
                                                  .embedding_stddev = embedding_stddev,
                                                  .embedding_width = config.token_width()};
  if (config.tie_embeddings) return {scope, options, tokens};
  return {scope, options};
}

// Positions that embeddings have are shared; others act in the generator's own attention.
std::shared_ptr<const Positions> own_positions(const nn::InputEmbeddings& shared, const Scope& embedding,
                                               const TransformerConfig& generator) {
  if (shared.positions().is_absolute()) return nullptr;
  return make_positions(generator.positions, embedding / "position",
                        embeddings_options(generator, false).position_shape);
}

EncoderConfig bert(Index layers, Index width, Index heads) {
  EncoderConfig config = EncoderConfig::bert();
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.context = 512;
  config.vocab_size = 30522;
  config.segments = 2;
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

// Clark et al. 2020, "ELECTRA", table 6, and the released configuration.
EncoderConfig electra_small() {
  EncoderConfig config = bert(12, 256, 4);
  config.embedding_width = 128;
  config.generator_width = 64;
  config.pooler = false;
  return config;
}

EncoderConfig electra_base() {
  EncoderConfig config = bert(12, 768, 12);
  config.generator_width = 256;
  config.pooler = false;
  return config;
}

// In nats per masked token, of 30 %, with 6,000 word pieces: six runs on novels, from which the law differs by 0.5 %
// (examples/budgets/README.md).
Recipe recipe_of_encoders() {
  constexpr Index batch_size = 12;
  Recipe recipe{.optimizer = "muon:coupled=true", .schedule = "linear"};
  for (const char* sizes : {"layers=2,width=128,heads=4", "layers=3,width=192,heads=3", "layers=4,width=256,heads=4",
                            "layers=6,width=384,heads=6", "layers=8,width=512,heads=8"}) {
    recipe.shapes.push_back({std::string(sizes) + ",sequence-length=64", batch_size});
  }
  // With as many tokens, 18,116 steps end at a masked loss of 3.77 and at worse classifiers, 4,529 at 3.54
  // (examples/recipes/LOG.md).
  recipe.most_steps = 5000;
  recipe.law = {
      .floor = 3.125, .width = 0.1909, .width_power = 0.4041, .data = 1.187, .data_power = 0.6316, .error = 0.1};
  return recipe;
}

}  // namespace

HeadlessEncoder::HeadlessEncoder(const EncoderConfig& config, ParameterSource weights)
    : StackModel(config, std::move(weights),
                 {.causal = false,
                  .needed = {},
                  .embedding_width = config.embedding_width,
                  .value_embeddings = config.value_embeddings}),
      pooler_(linear_if(config.pooler, scope("encoder/pooler"), config, config.width)) {}

Encoder::Encoder(const EncoderConfig& config, ParameterSource weights)
    : HeadlessEncoder(config, std::move(weights)),
      head_(head_for(scope("head"), config, embeddings().tokens())),
      next_sentence_(linear_if(config.next_sentence, scope("head/next_sentence"), config, 2)) {}

Variable HeadlessEncoder::summary(const Variable& first) const {
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

DetectingEncoder::DetectingEncoder(const EncoderConfig& config, ParameterSource weights)
    : Encoder(config, std::move(weights)),
      generator_(config.generator()),
      positions_(own_positions(embeddings(), scope("generator/embedding"), generator_)),
      projection_(embedding_projection(scope("generator/embedding"), generator_, config.token_width())),
      stack_(scope("generator"), generator_,
             {.positions = positions_ != nullptr ? positions_.get() : &embeddings().positions()}),
      activation_(from_text<Activation>(config.activation)),
      dense_(scope("head/detection/dense"), config.width, config.width, bias_of(config),
             projection_stddev(config.width)),
      output_(scope("head/detection/output"), config.width, 1, bias_of(config), embedding_stddev) {}

Variable DetectingEncoder::masked_hidden(const Sequences& sequences, const Pass& pass) const {
  const Variable shared = look_up(sequences);
  const Variable x = [&] {
    const Part part(nn::parts::token_embeddings);
    return projection_ ? (*projection_)(shared, {.output = DType::real}) : shared;
  }();
  StackContext own = context(sequences);
  own.values.clear();  // the generator has no value embeddings
  return stack_(embeddings().drop(x, pass.again(1)), mask(sequences), pass, {}, own);
}

Variable DetectingEncoder::replaced(const Variable& hidden) const {
  const Part part(nn::parts::output);
  return output_(dense_(hidden, {.activation = activation_}), {.output = DType::real});
}

// The head of detection reads every token, not only those predicted.
double DetectingEncoder::training_flops_per_token(Index time, double predicted) const {
  const auto width = static_cast<double>(this->width());
  return Encoder::training_flops_per_token(time, predicted) + 6 * (1 - predicted) * (width * width + width) +
         generator_.attention_flops_per_token(time, false);
}

// Source: Devlin et al. 2019, "BERT", section 3, and Liu et al. 2019, "RoBERTa", with the context, epsilons and
// positions of the models that they published.
Architecture describe_Encoder() {
  Architecture result = describe<Encoder, EncoderConfig>({
      {"small-encoder", "4 layers, width 256, rotary positions: half an hour on a CPU (the default)", EncoderConfig()},
      {"bert-base", "BERT, 109 M parameters without the head", bert(12, 768, 12)},
      {"bert-large", "335 M parameters without the head", bert(24, 1024, 16)},
      {"roberta-base", "RoBERTa, 125 M parameters without the head", roberta()},
      {"bert-base-relative", "BERT with relative positions, 110 M parameters without the head", relative_bert()},
      {"deberta-base", "DeBERTa, 139 M parameters without the head", deberta()},
      {"electra-small", "ELECTRA, 13.5 M parameters without the generator and the heads", electra_small()},
      {"electra-base", "109 M parameters without the generator and the heads", electra_base()},
  });
  result.make = [](const ModelConfig& config, ParameterSource weights) -> std::unique_ptr<Model> {
    const EncoderConfig& own = *config.as<EncoderConfig>();
    if (!own.masked_head) return std::make_unique<HeadlessEncoder>(own, std::move(weights));
    if (own.has_generator()) return std::make_unique<DetectingEncoder>(own, std::move(weights));
    return std::make_unique<Encoder>(own, std::move(weights));
  };
  result.roles.emplace_back(ReplacementDetector::ability);
  result.recipe = recipe_of_encoders();
  return result;
}

}  // namespace heddle::models
