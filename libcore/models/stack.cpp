#include "libcore/models/stack.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/nn/parts.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::models {

namespace {

nn::BlockOptions block_options(const StackConfig& config, const StackParts& parts) {
  const nn::Bias bias = bias_of(config);
  const double stddev = projection_stddev(config.width);
  const double output =
      config.zero_outputs ? 0 : stddev / std::sqrt(2.0 * static_cast<double>(std::max<Index>(1, config.layers)));
  nn::BlockOptions options{
      .order = from_text<BlockOrder>(config.block),
      .norm = norm_options(config),
      .attention = {.variant = config.attention,
                    .width = config.width,
                    .shape = config.head_shape(),
                    .needed = parts.needed,
                    .positions = parts.positions,
                    .relative_segments = parts.relative_segments,
                    .projections = from_text<Projections>(config.projections),
                    .output = config.attention_output,
                    .head_norm = config.head_norm,
                    .head_gates = config.head_gates,
                    .norm_epsilon = config.norm_epsilon,
                    .bias = config.attention_bias ? bias : nn::Bias::no,
                    .stddev = stddev,
                    .output_stddev = output},
      .feed_forward = {config.width, config.inner_width(), from_text<Activation>(config.activation), config.gated, bias,
                       stddev, output}};
  options.attention.needed.window = config.window > 0 || parts.memory > 0;
  if (parts.cross_attention) {
    options.cross_attention = options.attention;
    options.cross_attention->needed = {.cross = true};
    options.cross_attention->positions = nullptr;
    options.cross_attention->relative_segments = false;
  }
  return options;
}

// The number of a second application of all layers in one pass, beyond those that several layers of a block take.
constexpr Index second_stream = Index{1} << 20;

// The smaller one of two windows; 0 is none.
Index smaller_window(Index a, Index b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

}  // namespace

double projection_stddev(Index width) {
  return 0.02 * std::sqrt(768.0 / static_cast<double>(width));
}

nn::NormOptions norm_options(const StackConfig& config) {
  return {from_text<NormKind>(config.norm), config.norm_epsilon, bias_of(config)};
}

nn::InputEmbeddingsOptions embeddings_options(const TransformerConfig& config, bool causal, Index width) {
  if (width == 0) width = config.width;
  const HeadShape shape = config.head_shape();
  const std::optional<Index> context = config.max_positions();
  nn::InputEmbeddingsOptions options{
      .vocab = config.vocab_size,
      .width = width,
      .stddev = embedding_stddev,
      .positions = config.positions,
      .position_shape = {context, width, shape.heads, shape.key_width, embedding_stddev, causal, config.width},
      .context = context,
      .segments = config.segments};
  if (config.embedding_norm) options.norm = norm_options(config);
  return options;
}

std::optional<nn::Linear> embedding_projection(const Scope& embedding, const StackConfig& config, Index width) {
  if (width == 0 || width == config.width) return std::nullopt;
  return nn::Linear(embedding / "projection", width, config.width, bias_of(config), projection_stddev(width));
}

Stack::Stack(const Scope& scope, const StackConfig& config, const StackParts& parts)
    : layers_(static_cast<std::size_t>(config.layers)),
      own_window_(config.window),
      window_(smaller_window(config.window, parts.memory)),
      layer_dropout_(config.layer_dropout) {
  const Index blocks = std::min(config.layers, config.block_count());
  for (Index i = 0; i < blocks; ++i) blocks_.emplace_back(scope / i, scope, block_options(config, parts));
  for (Index i = 1; config.input_mix && i < config.layers; ++i) mixes_.emplace_back(scope / "mix" / i);
  if (config.block != to_text(BlockOrder::post)) norm_.emplace(scope / "norm", config.width, norm_options(config));
}

Variable Stack::finish(const Variable& x) const {
  return norm_ ? (*norm_)(x, nn::Norm::Result::activation) : x;
}

Pass Stack::pass_of(const Pass& pass, std::size_t layer) const {
  Pass own = pass.again(static_cast<Index>(layer / std::max<std::size_t>(1, blocks_.size())));
  own.sample_dropout =
      pass.training ? layer_dropout_ * static_cast<double>(layer + 1) / static_cast<double>(layers_) : 0;
  return own;
}

Index Stack::window_after(const EarlierStates& earlier) const {
  return smaller_window(own_window_, earlier.window);
}

nn::BlockContext Stack::context_of(const StackContext& context, std::size_t layer) const {
  nn::BlockContext own{.around = {.segments = context.segments}, .memory = memory_of(context.memories, layer)};
  if (context.earlier != nullptr && context.earlier->positions() > 0) {
    own.around.earlier = Variable(context.earlier->layers[layer]);
  }
  if (!context.values.empty()) own.around.values = context.values[layer];
  return own;
}

Stack::InputMix::InputMix(const Scope& scope)
    : states_(scope.parameter("states", {1}, Initializer::ones(), Decay::no)),
      embeddings_(scope.parameter("embeddings", {1}, Initializer::zeros(), Decay::no)) {}

Variable Stack::InputMix::operator()(const Variable& x, const Variable& embeddings) const {
  const Part part(nn::parts::residuals);
  return ops::add(ops::scale(x, states_), ops::scale(embeddings, embeddings_));
}

Variable Stack::input_of(std::size_t layer, const Variable& x, const Variable& embeddings) const {
  return layer == 0 || mixes_.empty() ? x : mixes_[layer - 1](x, embeddings);
}

Variable Stack::operator()(Variable x, const Mask& mask, const Pass& pass, const Observer& observe,
                           const StackContext& context) const {
  const Variable embeddings = x;
  for (std::size_t i = 0; i < layers_; ++i) {
    x = input_of(i, x, embeddings);
    if (observe) observe(x);
    x = block(i)(x, mask, pass_of(pass, i), context_of(context, i));
  }
  x = finish(x);
  if (observe) observe(x);
  return x;
}

Variable Stack::at(const std::vector<Index>& positions, Variable x, const Mask& mask, const Pass& pass,
                   const StackContext& context) const {
  if (layers_ == 0) return ops::gather_positions(finish(x), positions);
  const std::size_t last = layers_ - 1;
  const Variable embeddings = x;
  for (std::size_t i = 0; i < last; ++i) {
    x = block(i)(input_of(i, x, embeddings), mask, pass_of(pass, i), context_of(context, i));
  }
  return finish(block(last).at(positions, input_of(last, x, embeddings), mask, pass_of(pass, last),
                               context_of(context, last).around));
}

Stack::Streams Stack::streams(Streams x, const StreamMasks& masks, const Pass& pass,
                              const StackContext& context) const {
  const Pass query_pass = pass.again(second_stream);
  const Streams embeddings = x;
  for (std::size_t i = 0; i < layers_; ++i) {
    nn::BlockContext own = context_of(context, i);
    x = {input_of(i, x.content, embeddings.content), input_of(i, x.query, embeddings.query)};
    const Variable content = block(i)(x.content, masks.content, pass_of(pass, i), own);
    own.around.content = x.content;
    x = {content, block(i)(x.query, masks.query, pass_of(query_pass, i), own)};
  }
  return {finish(x.content), finish(x.query)};
}

Stack::Memories Stack::remember(const Variable& states, const std::vector<Index>& lengths, const Pass& pass) const {
  Memories memories;
  for (const nn::Block& block : blocks_) memories.push_back(block.cross_attention()->remember(states, lengths, pass));
  return memories;
}

LayerStates Stack::start(Index batch, Index capacity, DType cache) const {
  LayerStates states;
  for (std::size_t i = 0; i < layers_; ++i) states.push_back(block(i).start(batch, capacity, cache));
  return states;
}

Tensor Stack::step(Tensor x, const StepRows& rows, const LayerStates& states, const StackContext& context,
                   PairWeights* cross_weights) const {
  const Variable embeddings(x);
  for (std::size_t i = 0; i < layers_; ++i) {
    x = input_of(i, Variable(x), embeddings).value();
    PairWeights* const weights = i + 1 == layers_ ? cross_weights : nullptr;
    x = block(i).step(x, rows, window_, *states[i], context_of(context, i), weights);
  }
  return x;
}

StackView Stack::view(const std::string& name, const StackConfig& config, const nn::InputEmbeddings& embeddings,
                      bool causal) const {
  StackView result{.name = name,
                   .attention = config.attention,
                   .scheme = config.positions,
                   .positions = &embeddings.positions(),
                   .context = embeddings.context(),
                   .width = config.width,
                   .causal = causal};
  for (std::size_t i = 0; i < layers_; ++i) {
    const std::string layer = concatenate(name, "/", i);
    result.layers.push_back({layer + "/attention", false, &block(i).attention()});
    const std::optional<nn::CrossAttention>& cross = block(i).cross_attention();
    if (cross) result.layers.push_back({layer + "/cross_attention", true, &*cross});
  }
  return result;
}

bool Stack::can_continue_windows() const {
  if (blocks_.empty()) return true;
  const nn::SelfAttention& attention = blocks_.front().attention();
  const bool rotates = attention.positions() != nullptr && attention.positions()->rotates();
  return attention.support().window && (!rotates || attention.support().rotation);
}

bool Stack::has_cross_weights() const {
  return !blocks_.empty() && blocks_.back().cross_attention() && blocks_.back().cross_attention()->has_weights();
}

void Stack::attention_maps(Variable x, const Mask& mask, const MapsOptions& options,
                           const StackContext& context) const {
  const AttentionMap::Text text = options.text;
  const Variable embeddings = x;
  for (std::size_t i = 0; i < layers_; ++i) {
    const std::string name = concatenate(options.prefix, "/", i);
    x = input_of(i, x, embeddings);
    const nn::BlockContext own = context_of(context, i);
    options.take({name + "/attention", text, text, block(i).weights(x, mask, own.around)});
    PairWeights cross;
    x = block(i)(x, mask, {}, own, &cross);
    if (!cross.weights.empty()) options.take({name + "/cross_attention", text, AttentionMap::Text::source, cross});
  }
}

}  // namespace heddle::models
