#include "libcore/models/encoder_decoder.hpp"

#include <cmath>

#include "libcore/models/architecture.hpp"
#include "libcore/tensor/matmul.hpp"

namespace heddle::models {

namespace {

constexpr AttentionSupport needed_by_decoder{.causal = true, .cached = true};

// So that an embedding times sqrt(width) is as large as a sinusoid, and logits of a tied output as one of its elements.
double token_stddev(const EncoderDecoderConfig& config) {
  return config.scale_logits ? 1 : 1 / std::sqrt(static_cast<double>(config.width));
}

nn::InputEmbeddingsOptions embeddings_of(const EncoderDecoderConfig& config, Index vocab,
                                         const std::optional<nn::Embedding>& shared, bool causal) {
  nn::InputEmbeddingsOptions options = embeddings_options(config, causal);
  options.vocab = vocab;
  options.stddev = token_stddev(config);
  options.position_shape.stddev = 1 / std::sqrt(static_cast<double>(config.width));
  options.tokens = shared ? &*shared : nullptr;
  return options;
}

StackConfig encoder_of(const EncoderDecoderConfig& config) {
  StackConfig encoder = config;
  if (config.encoder_layers > 0) encoder.layers = config.encoder_layers;
  return encoder;
}

std::optional<nn::Embedding> shared_embedding(const Scope& scope, const EncoderDecoderConfig& config) {
  if (!config.share_embeddings) return std::nullopt;
  return nn::Embedding(scope, config.vocab_size, config.width, token_stddev(config));
}

heads::LanguageModel head_for(const Scope& scope, const EncoderDecoderConfig& config, const nn::Embedding& tokens) {
  heads::LanguageModelOptions options{.bias = config.logit_bias};
  if (config.scale_logits) options.scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(config.width)));
  if (config.tie_embeddings) return {scope, tokens, options};
  return {scope, config.vocab_size, config.width, token_stddev(config), options};
}

class EncoderDecoderState : public GeneratorState {
 public:
  EncoderDecoderState(const GenerationStart& start, LayerStates states, Stack::Memories sources)
      : GeneratorState(start.batch),
        layers(std::move(states)),
        memories(std::move(sources)),
        keeps_weights(start.source_weights) {
    for (nn::CrossAttention::Memory& memory : memories) {
      for (Index row = 0; row < start.batch; ++row) memory.rows.push_back(row);
    }
  }
  const LayerStates layers;
  Stack::Memories memories;
  const bool keeps_weights;

 private:
  // Keys and values of sources stay where they are.
  void reorder_layers(const std::vector<Index>& rows) override {
    for (const auto& layer : layers) layer->reorder(rows);
    for (nn::CrossAttention::Memory& memory : memories) {
      std::vector<Index> reordered;
      for (const Index row : rows) reordered.push_back(memory.rows.at(static_cast<std::size_t>(row)));
      memory.rows = std::move(reordered);
    }
  }
};

// The mean of all heads, at each row's last added token: [batch, heads, time, keys] -> [batch, keys].
Tensor last_mean(const Tensor& weights, const std::vector<Index>& added) {
  const Index batch = weights.shape()[0], heads = weights.shape()[1], time = weights.shape()[2],
              keys = weights.shape()[3];
  const Tensor mean({batch, keys}, Real(0));
  for (Index row = 0; row < batch * heads; ++row) {
    const Real* const from = weights.data() + (row * time + added[static_cast<std::size_t>(row / heads)] - 1) * keys;
    Real* const to = mean.data() + row / heads * keys;
    for (Index key = 0; key < keys; ++key) to[key] += from[key] / static_cast<Real>(heads);
  }
  return mean;
}

EncoderDecoderConfig transformer(Index width, Index heads, Index ffn_width, double dropout) {
  EncoderDecoderConfig config;
  config.layers = 6;
  config.width = width;
  config.heads = heads;
  config.ffn_width = ffn_width;
  config.activation = "relu";
  config.block = "post";
  config.dropout = dropout;
  config.attention_bias = false;
  config.vocab_size = 37000;
  return config;
}

EncoderDecoderConfig t5(Index layers, Index width, Index heads) {
  EncoderDecoderConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.activation = "relu";
  config.norm = "rms";
  config.norm_epsilon = 1e-6;
  config.positions = "relative-scalar";
  config.attention = "dot:scale=1";
  config.bias = false;
  config.dropout = 0.1;
  config.scale_logits = true;
  config.vocab_size = 32128;
  config.start_token = 0;
  return config;
}

EncoderDecoderConfig bart(Index layers, Index width, Index heads) {
  EncoderDecoderConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.activation = "gelu";
  config.block = "post";
  config.embedding_norm = true;
  config.positions = "learned:offset=2";
  config.context = 1024;
  config.dropout = 0.1;
  config.vocab_size = 50265;
  config.start_token = 2;
  return config;
}

Recipe recipe_of_encoder_decoders() {
  Recipe recipe{.optimizer = "muon", .schedule = "linear"};
  constexpr Index batch_size = 32;
  for (const char* sizes : {"layers=2,width=128,heads=2", "layers=3,width=256,heads=4", "layers=4,width=384,heads=6",
                            "layers=6,width=512,heads=8"}) {
    recipe.shapes.push_back({sizes, batch_size});
  }
  // In nats per token of targets, with a shared vocabulary of 4,000 pieces: five runs on captions
  // (examples/budgets/README.md), from which it differs by 2 %.
  recipe.law = {.floor = 0.3, .width = 0.954, .width_power = 0.272, .data = 1.128, .data_power = 0.606, .error = 0.2};
  return recipe;
}

}  // namespace

EncoderDecoderConfig::EncoderDecoderConfig() {
  positions = "sinusoidal";
}

void EncoderDecoderConfig::validate() const {
  check_transformer(*this, needed_by_decoder);
  check<UsageError>(distinct_layers == 0 || encoder_of(*this).layers % distinct_layers == 0,
                    "`encoder_layers` = ", encoder_layers,
                    " is not a multiple of `distinct_layers` = ", distinct_layers);
  check_vocabularies(vocab_size);
}

void EncoderDecoderConfig::spell_out() {
  TransformerConfig::spell_out();
  if (encoder_layers == 0) encoder_layers = layers;
  source_vocab_size = source_vocabulary(vocab_size);
}

EncoderDecoder::EncoderDecoder(const EncoderDecoderConfig& config, ParameterSource weights)
    : ModelOfTokens(config, std::move(weights)),
      config_(config),
      shared_(shared_embedding(scope("embedding/token"), config)),
      source_embeddings_(scope("encoder/embedding"),
                         embeddings_of(config, config.source_vocabulary(config.vocab_size), shared_, false)),
      target_embeddings_(scope("decoder/embedding"), embeddings_of(config, config.vocab_size, shared_, true)),
      encoder_(scope("encoder"), encoder_of(config), {.positions = &source_embeddings_.positions()}),
      decoder_(scope("decoder"), config,
               {.positions = &target_embeddings_.positions(), .needed = needed_by_decoder, .cross_attention = true}),
      head_(head_for(scope("head"), config, target_embeddings_.tokens())) {}

std::optional<TokenId> EncoderDecoder::start_token() const {
  if (config_.start_token < 0) return std::nullopt;
  return static_cast<TokenId>(config_.start_token);
}

Mask EncoderDecoder::source_mask(const Sequences& sources) const {
  return {.window = encoder_.window(), .key_lengths = sources.lengths};
}

Variable EncoderDecoder::hidden(const Sequences& sources, const Pass& pass, const Observer& observe) const {
  check_sequences(sources);
  const Variable x = source_embeddings_.drop(source_embeddings_(sources.ids, sources.segments), pass);
  return encoder_(x, source_mask(sources), pass, observe);
}

Stack::Memories EncoderDecoder::remember(const Sequences& sources, const Pass& pass) const {
  return decoder_.remember(hidden(sources, pass), sources.lengths, pass);
}

Variable EncoderDecoder::target_hidden(const Sequences& targets, const Pass& pass) const {
  check<ShapeError>(targets.sources != nullptr, "targets without their sources");
  check_sequences(targets);
  const Stack::Memories memories = remember(*targets.sources, pass);
  const Variable x = target_embeddings_.drop(target_embeddings_(targets.ids, targets.segments), pass);
  const Mask mask{.causal = true, .window = decoder_.window(), .key_lengths = targets.lengths};
  return decoder_(x, mask, pass, {}, {.memories = memories});
}

std::unique_ptr<GeneratorState> EncoderDecoder::start(const GenerationStart& start) const {
  check<ShapeError>(start.sources != nullptr, "a generation without its sources");
  check<Error>(!start.source_weights || attends_to_source(), "weights of a model that does not attend to its source");
  const std::optional<Index> most = max_positions();
  check<DataError>(!most || start.capacity <= *most, start.capacity, " tokens are more than the context of ",
                   most.value_or(0));
  const RowKernelsScope kernels(RowKernels::many);
  return std::make_unique<EncoderDecoderState>(start, decoder_.start(start.batch, start.capacity, start.cache),
                                               remember(*start.sources, {}));
}

Tensor EncoderDecoder::step(const TokenIds& ids, const std::vector<Index>& added,
                            GeneratorState& generator_state) const {
  auto& state = dynamic_cast<EncoderDecoderState&>(generator_state);
  state.check_step(ids, added);
  const RowKernelsScope kernels(ids.shape[1] == 1 ? RowKernels::few : RowKernels::many);
  const Tensor x = target_embeddings_(ids, {}, state.seen()).value();
  PairWeights cross;
  PairWeights* const wanted = state.keeps_weights ? &cross : nullptr;
  const Tensor last =
      last_added(decoder_.step(x, {state.seen(), added}, state.layers, {.memories = state.memories}, wanted), added);
  if (wanted != nullptr) state.set_source_weights(last_mean(cross.weights, added));
  state.advance(added);
  return head_(decoder_.finish(Variable(last))).value();
}

void EncoderDecoder::attention_maps(const Sequences& targets, const Take& take) const {
  check<ShapeError>(targets.sources != nullptr, "targets without their sources");
  const Sequences& sources = *targets.sources;
  encoder_.attention_maps(source_embeddings_(sources.ids, sources.segments), source_mask(sources),
                          {"encoder", AttentionMap::Text::source, take});
  const Mask mask{.causal = true, .window = decoder_.window(), .key_lengths = targets.lengths};
  decoder_.attention_maps(target_embeddings_(targets.ids, targets.segments), mask,
                          {"decoder", AttentionMap::Text::own, take}, {.memories = remember(sources, {})});
}

// Counts a target token and a source token together.
double EncoderDecoder::training_flops_per_token(Index time, double predicted) const {
  double multiplied = predicted * static_cast<double>(vocab_size() * width());
  for (const Parameter& parameter : parameters().all()) {
    const bool is_table = parameter.name.find("embedding/") != std::string::npos || is_of_head(parameter.name);
    if (parameter.value().rank() < 2 || is_table) continue;
    const bool is_of_encoder = parameter.name.starts_with("encoder/");
    const double uses = is_of_encoder ? encoder_of(config_).uses_of_a_block() : config_.uses_of_a_block();
    multiplied += static_cast<double>(parameter.size()) * uses;
  }
  return 6.0 * multiplied + config_.attention_flops_per_token(time, true) +
         2 * config_.attention_flops_per_token(time, false);
}

// Source: Vaswani et al. 2017, "Attention is all you need", table 3, with a vocabulary of 37,000 shared pieces; Raffel
// et al. 2020, "T5", section 2.1 and 3.7, and Lewis et al. 2020, "BART", section 2.1, with the vocabularies, epsilons
// and start tokens of the models that they published.
Architecture describe_EncoderDecoder() {
  Architecture architecture = describe<EncoderDecoder, EncoderDecoderConfig>({
      {"transformer-base", "the transformer of 2017 for translation, 63 M parameters", transformer(512, 8, 2048, 0.1)},
      {"transformer-big", "the larger one, 214 M parameters", transformer(1024, 16, 4096, 0.3)},
      {"t5-small", "T5 of 2020, 61 M parameters", t5(6, 512, 8)},
      {"t5-base", "223 M parameters", t5(12, 768, 12)},
      {"t5-large", "738 M parameters", t5(24, 1024, 16)},
      {"bart-base", "BART, 139 M parameters", bart(6, 768, 12)},
      {"bart-large", "406 M parameters", bart(12, 1024, 16)},
  });
  architecture.recipe = recipe_of_encoder_decoders();
  return architecture;
}

}  // namespace heddle::models
