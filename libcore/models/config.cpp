#include "libcore/models/config.hpp"

#include <algorithm>

#include "libcore/models/stack.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle::models {

void TokenConfig::fit_vocabularies(const Vocabularies& vocabularies) {
  if (vocab_size == 0) vocab_size = vocabularies.target;
  check<UsageError>(vocab_size >= vocabularies.target, "`vocab_size` = ", vocab_size, " is less than the ",
                    vocabularies.target, " pieces of the tokenizer; leave it out, or raise it");
}

void TokenConfig::check_sizes() const {
  check<UsageError>(vocab_size > 0, "a model needs a vocabulary: give `vocab_size`");
}

void GraphConfig::fit_graphs(const data::GraphSchema& schema) {
  if (features.empty()) features = schema;
}

namespace {

template <class Reads, class Config>
auto& reads(Config& config, const char* input) {
  auto* const part = config.template as<Reads>();
  check<UsageError>(part != nullptr, "the architecture ", config.arch(), " does not read ", input);
  return *part;
}

}  // namespace

const TokenConfig& ModelConfig::tokens() const {
  return reads<TokenConfig>(*this, "texts");
}
TokenConfig& ModelConfig::tokens() {
  return reads<TokenConfig>(*this, "texts");
}
const GraphConfig& ModelConfig::graphs() const {
  return reads<GraphConfig>(*this, "graphs");
}
GraphConfig& ModelConfig::graphs() {
  return reads<GraphConfig>(*this, "graphs");
}

Index StackConfig::usual_inner_width() const {
  return gated ? (8 * width + 95) / 96 * 32 : 4 * width;
}

HeadShape StackConfig::head_shape() const {
  const Index key_width = head_width > 0 ? head_width : width / heads;
  return {heads, key_width, kv_heads > 0 ? kv_heads : heads, key_width};
}

std::optional<Index> TransformerConfig::max_positions() const {
  const Index window_length = sequence_length > 0 ? sequence_length : 64;
  return context_of(positions, context > 0 ? std::optional(context) : std::nullopt, window_length);
}

void TransformerConfig::spell_out() {
  TokenConfig::spell_out();
  const HeadShape shape = head_shape();
  ffn_width = inner_width();
  kv_heads = shape.kv_heads;
  head_width = shape.key_width;
  context = max_positions().value_or(0);
}

double TransformerConfig::attention_flops_per_token(Index time, bool causal) const {
  const auto length = static_cast<double>(time), reach = static_cast<double>(window);
  double keys = causal ? (length + 1) / 2 : length;
  if (window > 0) {
    const double sides = causal ? 1 : 2, most = std::min(reach, length - 1);
    keys = 1 + sides * (most - most * (most + 1) / (2 * length));
  }
  const HeadShape shape = head_shape();
  const auto numbers = static_cast<double>(shape.heads * (shape.key_width + shape.value_width));
  return 6.0 * static_cast<double>(layers) * numbers * keys;
}

void SourceConfig::fit_both(const Vocabularies& vocabularies, Index vocab_size) {
  check<UsageError>(vocabularies.are_one || !share_embeddings,
                    "source and target have vocabularies of their own, so they cannot share embeddings; give "
                    "`share_embeddings` = false");
  if (source_vocab_size == 0 && !vocabularies.are_one) source_vocab_size = vocabularies.source;
  const Index size = vocab_size > 0 || source_vocab_size > 0 ? source_vocabulary(vocab_size) : vocabularies.source;
  check<UsageError>(size >= vocabularies.source, "`source_vocab_size` = ", size, " is less than the ",
                    vocabularies.source, " pieces of the source's tokenizer; leave it out, or raise it");
}

void SourceConfig::check_vocabularies(Index vocab_size) const {
  check<UsageError>(!share_embeddings || source_vocab_size == 0 || source_vocab_size == vocab_size,
                    "`source_vocab_size` = ", source_vocab_size, " and `vocab_size` = ", vocab_size,
                    " differ, so source and target cannot share embeddings; give `share_embeddings` = false");
  check<UsageError>(start_token < 0 || vocab_size == 0 || start_token < vocab_size, "`start_token` = ", start_token,
                    " is outside the vocabulary of ", vocab_size);
}

namespace {

// "these positions", of messages that do not know which, by name.
std::string naming_positions(std::string message, const std::string& positions) {
  constexpr std::string_view some = "these positions";
  const std::size_t at = message.find(some);
  return at == message.npos ? message : message.replace(at, some.size(), "positions " + positions);
}

void check_positions(const TransformerConfig& config, const AttentionPositions* layer, const AttentionSupport& needed) {
  if (layer == nullptr) return;
  const PositionNeeds needs = layer->needs();
  check<UsageError>(needs.whole.empty() || !needed.cached, config.positions,
                    " needs all keys at once, so such a model cannot continue texts step by step; ", needs.whole,
                    " can");
  const HeadShape shape = config.head_shape();
  check<UsageError>(!needs.key_for_each_head || shape.heads == shape.kv_heads, config.positions,
                    " needs a key head for each head; leave out `kv_heads`");
}

void check_attention(const TransformerConfig& config, const Positions& positions, const AttentionSupport& needed,
                     const Scope& scope) {
  try {
    const nn::SelfAttention attention(scope / "attention", scope,
                                      {.variant = config.attention,
                                       .width = config.width,
                                       .shape = config.head_shape(),
                                       .needed = needed,
                                       .positions = &positions,
                                       .relative_segments = needed.segments,
                                       .projections = from_text<Projections>(config.projections),
                                       .output = config.attention_output});
  } catch (const UsageError& error) {
    throw UsageError(naming_positions(error.what(), config.positions));
  }
}

}  // namespace

void check_transformer(const TransformerConfig& config, const AttentionSupport& needed) {
  check<UsageError>(config.head_width > 0 || config.width % config.heads == 0, "`width` = ", config.width,
                    " is not divisible by `heads` = ", config.heads);
  const HeadShape shape = config.head_shape();
  check<UsageError>(shape.heads % shape.kv_heads == 0, "`heads` = ", config.heads,
                    " is not a multiple of `kv_heads` = ", config.kv_heads);
  check<UsageError>(config.distinct_layers == 0 || config.layers % config.distinct_layers == 0,
                    "`layers` = ", config.layers, " is not a multiple of `distinct_layers` = ", config.distinct_layers);
  const std::optional<Index> most = naming_errors("`positions`", [&] { return config.max_positions(); });
  check<UsageError>(!most || config.sequence_length <= *most, "`sequence_length` = ", config.sequence_length,
                    " is more than the ", most.value_or(0), " positions of `context`");
  // Unsupported combinations of attention and positions are refused by a simulated block.
  const Simulation nothing_is_computed;
  Parameters parameters(ParameterSource::unset());
  const Scope scope(parameters, "");
  const auto positions = naming_errors("`positions`", [&] {
    return make_positions(config.positions, scope,
                          {most, config.width, shape.heads, shape.key_width, embedding_stddev, needed.causal});
  });
  naming_errors("`positions`",
                [&] { check_positions(config, positions->for_layer(scope / "positions").get(), needed); });
  naming_errors("`projections`", [&] {
    nn::make_head_projections(scope / "projections", {.kind = from_text<Projections>(config.projections),
                                                      .width = config.width,
                                                      .memory_width = config.width,
                                                      .same_source = true,
                                                      .shape = shape,
                                                      .bias = nn::Bias::no,
                                                      .stddev = embedding_stddev});
  });
  AttentionSupport all = needed;
  all.window = needed.window || config.window > 0;
  naming_errors("`attention`", [&] { check_attention(config, *positions, all, scope); });
}

void ValueEmbeddingConfig::check_layers(Index layers) const {
  const Index most = layers == 1 ? 1 : layers / 2;
  check<UsageError>(value_embeddings <= most, "`value_embeddings` = ", value_embeddings, ": ", "at most ", most,
                    " for ", counted(layers, "layer", "layers"),
                    ": each table serves one of the first and one of the last");
}

void check_memory(const TransformerConfig& config, Index memory) {
  if (memory == 0) return;
  const Simulation nothing_is_computed;
  Parameters parameters(ParameterSource::unset());
  const HeadShape shape = config.head_shape();
  const auto positions =
      make_positions(config.positions, Scope(parameters, ""),
                     {config.max_positions(), config.width, shape.heads, shape.key_width, embedding_stddev, true});
  check<UsageError>(!positions->is_absolute(), "`memory` = ", memory, ": `positions` = ", config.positions,
                    " begin anew in each window, so tokens of the window and of the memory share numbers; give "
                    "relative positions, such as transformer-xl, rope or alibi");
  check<UsageError>(config.context == 0, "`memory` = ", memory,
                    ": a model with a memory reads texts of any length; give `context` = auto, and `sequence_length` "
                    "for the length of a window");
  check<UsageError>(config.window == 0 || memory <= config.window, "`memory` = ", memory, " is more than the ",
                    config.window, " positions of `window`");
  const auto layer = positions->for_layer(Scope(parameters, "positions"));
  if (layer == nullptr || !layer->rotates()) return;
  naming_errors("`attention`", [&] {
    const Scope scope(parameters, "attention");
    check_support(config.attention, make_attention(config.attention, {scope, scope}, shape)->support(),
                  {.rotation = true});
  });
}

}  // namespace heddle::models
