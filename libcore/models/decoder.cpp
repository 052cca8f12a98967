#include "libcore/models/decoder.hpp"

#include <algorithm>

#include "libcore/models/architecture.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/matmul.hpp"

namespace heddle::models {

namespace {

constexpr AttentionSupport needed{.causal = true, .cached = true};

heads::LanguageModel head_for(const Scope& scope, const DecoderConfig& config, const nn::Embedding& tokens) {
  const heads::LanguageModelOptions options{.cap = config.logit_cap};
  if (config.tie_embeddings) return heads::LanguageModel(scope, tokens, options);
  return {scope, config.vocab_size, config.width, embedding_stddev, options};
}

class DecoderState : public GeneratorState {
 public:
  DecoderState(Index batch, LayerStates states) : GeneratorState(batch), layers(std::move(states)) {}
  const LayerStates layers;

 private:
  void reorder_layers(const std::vector<Index>& rows) override {
    for (const auto& layer : layers) layer->reorder(rows);
  }
};

DecoderConfig gpt2(Index layers, Index width, Index heads) {
  DecoderConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.positions = "learned";
  config.context = 1024;
  config.vocab_size = 50257;
  return config;
}

// Radford et al. 2018, "Improving language understanding by generative pre-training", section 4.1.
DecoderConfig gpt1() {
  DecoderConfig config = gpt2(12, 768, 12);
  config.block = "post";
  config.context = 512;
  config.vocab_size = 40478;
  config.dropout = 0.1;
  return config;
}

// Brown et al. 2020, "Language models are few-shot learners", table 2.1. Every other layer of theirs attends to a band
// of positions alone, whose width they do not give; here all attend to all.
DecoderConfig gpt3() {
  DecoderConfig config = gpt2(96, 12288, 96);
  config.context = 2048;
  return config;
}

// Touvron et al. 2023, "LLaMA", section 2.2, and the released configurations of it and of its successors.
DecoderConfig llama(Index layers, Index width, Index heads, Index ffn_width) {
  DecoderConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.ffn_width = ffn_width;
  config.activation = "silu";
  config.gated = true;
  config.norm = "rms";
  config.positions = "rope";
  config.bias = false;
  config.tie_embeddings = false;
  config.context = 2048;
  config.vocab_size = 32000;
  return config;
}

DecoderConfig llama_7b() {
  DecoderConfig config = llama(32, 4096, 32, 11008);
  config.norm_epsilon = 1e-6;
  return config;
}

// Grattafiori et al. 2024, "The Llama 3 herd of models", table 3, with the 8,192 positions of most of its training.
DecoderConfig llama3(Index layers, Index width, Index heads, Index ffn_width) {
  DecoderConfig config = llama(layers, width, heads, ffn_width);
  config.kv_heads = 8;
  config.positions = "rope:base=500000";
  config.context = 8192;
  config.vocab_size = 128256;
  return config;
}

DecoderConfig smollm() {
  DecoderConfig config = llama(30, 576, 9, 1536);
  config.kv_heads = 3;
  config.tie_embeddings = true;
  config.vocab_size = 49152;
  return config;
}

// Chowdhery et al. 2022, "PaLM", section 2 and table 1.
DecoderConfig palm_8b() {
  DecoderConfig config;
  config.layers = 32;
  config.width = 4096;
  config.heads = 16;
  config.kv_heads = 1;
  config.ffn_width = 4 * config.width;
  config.activation = "silu";
  config.gated = true;
  config.block = "parallel";
  config.positions = "rope";
  config.bias = false;
  config.context = 2048;
  config.vocab_size = 256000;
  return config;
}

// The decoder of T5 without its cross-attention (Raffel et al. 2020, section 3.2.1, "language model").
DecoderConfig t5_decoder() {
  DecoderConfig config;
  config.layers = 6;
  config.width = 512;
  config.heads = 8;
  config.activation = "relu";
  config.norm = "rms";
  config.norm_epsilon = 1e-6;
  config.positions = "relative-scalar";
  config.attention = "dot:scale=1";
  config.bias = false;
  config.dropout = 0.1;
  config.vocab_size = 32128;
  return config;
}

DecoderConfig nano() {
  DecoderConfig config;
  config.context = 64;
  config.bias = false;
  return config;
}

// Projections of attention without biases, all others with them.
DecoderConfig transformer_xl(Index layers, Index width, Index heads, Index window) {
  DecoderConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.activation = "relu";
  config.block = "post";
  config.positions = "transformer-xl";
  config.attention_bias = false;
  config.dropout = 0.1;
  config.sequence_length = config.memory = window;
  return config;
}

DecoderConfig transformer_xl_of_characters() {
  DecoderConfig config = transformer_xl(12, 512, 8, 512);
  config.ffn_width = 2048;
  config.vocab_size = 204;
  return config;
}

DecoderConfig transformer_xl_of_words() {
  DecoderConfig config = transformer_xl(16, 410, 10, 150);
  config.ffn_width = 2100;
  config.vocab_size = 267735;
  return config;
}

std::vector<Recipe::Shape> shapes() {
  constexpr Index batch_size = 8;
  std::vector<Recipe::Shape> shapes;
  for (const char* sizes : {"layers=2,width=64,heads=2", "layers=4,width=128,heads=4", "layers=4,width=192,heads=4",
                            "layers=6,width=256,heads=4", "layers=6,width=384,heads=6", "layers=8,width=512,heads=8",
                            "layers=12,width=768,heads=12"}) {
    shapes.push_back({std::string(sizes) + ",sequence-length=128", batch_size});
  }
  return shapes;
}

// Fitted to eight runs on the characters of a novel (examples/budgets, law.mk); of a BPE vocabulary of 4,096 pieces
// four runs on another one lie within 6 %.
constexpr ScalingLaw measured_law{.floor = 0.986,
                                  .width = 0.118,
                                  .width_power = 0.381,
                                  .data = 0.171,
                                  .data_power = 0.847,
                                  .error = 0.1,
                                  .is_per_byte = true};

}  // namespace

void DecoderConfig::prepare_for(std::string_view role) {
  if (role == MixedPredictor::ability) fills_masks = true;
}

void DecoderConfig::validate() const {
  check<UsageError>(memory == 0 || !fills_masks,
                    "`memory`: a decoder that fills masks reads each window as a whole; "
                    "leave it out, or `fills_masks`, which the mixed objective sets");
  check<UsageError>(memory == 0 || value_embeddings == 0,
                    "`memory`: `value_embeddings` are of the tokens of a window alone; leave one of them out");
  check_layers(layers);
  AttentionSupport all = needed;
  all.window = memory > 0;
  check_transformer(*this, all);
  check_memory(*this, memory);
}

Decoder::Decoder(const DecoderConfig& config, ParameterSource weights)
    : StackModel(config, std::move(weights),
                 {.causal = !config.fills_masks,
                  .needed = needed,
                  .memory = config.memory,
                  .value_embeddings = config.value_embeddings}),
      memory_(config.memory),
      head_(head_for(scope("head"), config, embeddings().tokens())) {}

// A token attends to the memory, too, and the memory's keys and values are computed again for each window, with a
// gradient for their weights alone.
double Decoder::training_flops_per_token(Index time, double predicted) const {
  const HeadShape shape = transformer().head_shape();
  const auto numbers = static_cast<double>(shape.heads * (shape.key_width + shape.value_width));
  const auto projected = static_cast<double>(shape.kv_heads * (shape.key_width + shape.value_width) * width());
  const double per_layer = 6 * numbers + 4 * projected / static_cast<double>(std::max<Index>(1, time));
  return StackModel::training_flops_per_token(time, predicted) + static_cast<double>(layers() * memory_) * per_layer;
}

// The values of earlier positions lack what their tokens added.
bool Decoder::remembers() const {
  return !has_values() && !embeddings().positions().is_absolute() && stack().can_continue_windows();
}

std::unique_ptr<GeneratorState> Decoder::start(const GenerationStart& start) const {
  const std::optional<Index> most = max_positions();
  check<DataError>(!most || start.capacity <= *most, start.capacity, " tokens are more than the context of ",
                   most.value_or(0));
  return std::make_unique<DecoderState>(start.batch, stack().start(start.batch, start.capacity, start.cache));
}

Tensor Decoder::step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& generator_state) const {
  auto& state = dynamic_cast<DecoderState&>(generator_state);
  state.check_step(ids, added);
  const RowKernelsScope kernels(ids.shape[1] == 1 ? RowKernels::few : RowKernels::many);
  const Tensor x = embeddings()(ids, {}, state.seen()).value();
  const Tensor last = last_added(stack().step(x, {state.seen(), added}, state.layers, {.values = values(ids)}), added);
  state.advance(added);
  return head_(stack().finish(Variable(last))).value();
}

Variable MixedDecoder::next_hidden(const Sequences& sequences, const Pass& pass) const {
  Mask causal = mask(sequences);
  causal.causal = true;
  return stack()(embeddings().drop(embed(sequences), pass), causal, pass, {}, context(sequences));
}

Variable MixedDecoder::masked_hidden(const Sequences& sequences, const Pass& pass) const {
  const Index batch = sequences.ids.shape[0], time = sequences.ids.shape[1];
  std::vector<Index> rows;
  for (Index b = 0; b < batch; ++b) {
    for (Index t = 0; t < time; ++t) rows.push_back(b * time + std::max<Index>(0, t - 1));
  }
  return view(ops::gather_rows(hidden(sequences, pass), rows), [=](const Tensor& t) {
    return t.reshaped({batch, time, t.shape()[1]});
  });
}

// Sources: Radford et al. 2019, "Language models are unsupervised multitask learners", table 2; nano is the CPU recipe
// of the nanoGPT repository (4 layers, 4 heads, width 128, context 64, no biases). Dai et al. 2019, "Transformer-XL",
// and its published code for the models of enwik8 and WikiText-103. That counts 41,055,436 numbers in the first: here u
// and v are of each layer rather than shared by all (11 * 1024 more), and the output has no bias (204 fewer). It counts
// 151,107,538 in the second, with a bias of the output (267,735) and the vectors of the clusters of its adaptive
// softmax (1,233), which are not here, and u and v once (15 * 820 fewer). It scales embeddings by sqrt(width), and has
// dropout inside feed-forward layers, too.
Architecture describe_Decoder() {
  Architecture architecture = describe<Decoder, DecoderConfig>({
      {"nano", "4 layers, width 128, context 64: minutes on a CPU", nano()},
      {"gpt1", "GPT of 2018, 117 M parameters", gpt1()},
      {"gpt2", "GPT-2 small, 124 M parameters", gpt2(12, 768, 12)},
      {"gpt2-medium", "355 M parameters", gpt2(24, 1024, 16)},
      {"gpt2-large", "774 M parameters", gpt2(36, 1280, 20)},
      {"gpt2-xl", "1.56 G parameters", gpt2(48, 1600, 25)},
      {"gpt3", "GPT-3, 175 G parameters, with attention to all positions in every layer", gpt3()},
      {"llama-7b", "LLaMA of 2023, 6.74 G parameters", llama_7b()},
      {"llama3-8b", "8.03 G parameters, grouped heads", llama3(32, 4096, 32, 14336)},
      {"llama3-70b", "70.6 G parameters", llama3(80, 8192, 64, 28672)},
      {"llama3-405b", "406 G parameters", llama3(126, 16384, 128, 53248)},
      {"smollm-135m", "the shape of LLaMA's successors in small, 135 M parameters", smollm()},
      {"palm-8b", "PaLM with parallel blocks and one key head, 8.63 G parameters", palm_8b()},
      {"t5-decoder", "T5's decoder alone, with its relative positions, 35 M parameters", t5_decoder()},
      {"transformer-xl-enwik8", "Transformer-XL for characters, 12 layers, 41 M parameters",
       transformer_xl_of_characters()},
      {"transformer-xl", "Transformer-XL for WikiText-103, 16 layers, 151 M parameters; without its adaptive softmax",
       transformer_xl_of_words()},
  });
  architecture.make = [](const ModelConfig& config, ParameterSource weights) -> std::unique_ptr<Model> {
    const DecoderConfig& own = *config.as<DecoderConfig>();
    if (own.fills_masks) return std::make_unique<MixedDecoder>(own, std::move(weights));
    return std::make_unique<Decoder>(own, std::move(weights));
  };
  architecture.roles.emplace_back(MixedPredictor::ability);
  architecture.recipe = {"muon", "linear", shapes(), measured_law};
  return architecture;
}

}  // namespace heddle::models
