// A sequence of blocks, with a final norm if blocks are pre-norm.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/models/config.hpp"
#include "libcore/models/roles.hpp"
#include "libcore/nn/input_embeddings.hpp"

namespace heddle::models {

// 0.02 at GPT-2's width, as in GPT-2; for other widths scaled so that a projection's output has the same size.
double projection_stddev(Index width);

nn::NormOptions norm_options(const StackConfig& config);
// The embeddings of a stack whose tokens see those before them alone, or all; they have the stack's width by default.
nn::InputEmbeddingsOptions embeddings_options(const TransformerConfig& config, bool causal, Index width = 0);
// From a width of embeddings to that of the stack; none where they are equal (0: equal).
std::optional<nn::Linear> embedding_projection(const Scope& embedding, const StackConfig& config, Index width);
inline nn::Bias bias_of(const StackConfig& config) {
  return config.bias ? nn::Bias::yes : nn::Bias::no;
}

// A stack's part of a GeneratorState.
using LayerStates = std::vector<std::unique_ptr<AttentionState>>;

struct StackParts {
  const Positions* positions = nullptr;  // positions of its tokens
  AttentionSupport needed{};             // requirements of its self-attention
  bool cross_attention = false;
  bool relative_segments = false;
  Index memory =
      0;  // positions of earlier sequences that a token may attend to; 0: it attends to its own sequence alone
};

// Inputs of a stack's layers besides the hidden states; each may be omitted.
struct StackContext {
  // The keys and values of the other sequence for the cross-attention of each block.
  using Memories = std::vector<nn::CrossAttention::Memory>;
  Memories memories{};
  std::shared_ptr<const TokenIds> segments{};  // token segments, if these are relative
  const EarlierStates* earlier = nullptr;      // cached states of the layers
  std::vector<nn::AddedValues> values{};       // added values of each layer; empty: none
};

// Parameters: 0, 1, … of the blocks, each used by one layer, or by several in turn; mix/1, … with input_mix; norm.
// Matrices start normal with projection_stddev(), those that write to the residual stream with 1 / sqrt(2 layers) of
// that, or as zeros.
class Stack {
 public:
  Stack(const Scope& scope, const StackConfig& config, const StackParts& parts);

  using Observer = ContextualVectors::Observer;
  using Memories = StackContext::Memories;

  // x [batch, time, width] -> the same; values at padding positions are undefined.
  Variable operator()(Variable x, const Mask& mask, const Pass& pass, const Observer& observe = {},
                      const StackContext& context = {}) const;
  // At one position of each sequence: [batch, 1, width]. The last block computes these alone.
  Variable at(const std::vector<Index>& positions, Variable x, const Mask& mask, const Pass& pass,
              const StackContext& context = {}) const;

  // Two streams through the same layers, [batch, time, width] each: the content attends to itself, the queries attend
  // to the content, each by a mask of its own.  Source: Yang et al. 2019, "XLNet", section 2.3.
  struct Streams {
    Variable content, query;
  };
  struct StreamMasks {
    Mask content, query;
  };
  Streams streams(Streams x, const StreamMasks& masks, const Pass& pass, const StackContext& context) const;

  // Keys and values of another sequence's states for every block.
  Memories remember(const Variable& states, const std::vector<Index>& lengths, const Pass& pass = {}) const;

  LayerStates start(Index batch, Index capacity, DType cache) const;
  // The states of new positions: x [batch, time, width] -> the same, before finish(). Sets *cross_weights, where given,
  // to the weights of the last block's cross-attention, [batch, heads, time, memory_time]. Only memories
  // and values of the context are read.
  Tensor step(Tensor x, const StepRows& rows, const LayerStates& states, const StackContext& context = {},
              PairWeights* cross_weights = nullptr) const;
  // Precondition of cross_weights.
  bool has_cross_weights() const;
  Variable finish(const Variable& x) const;

  // Takes the weights of each block's self-attention and cross-attention to a source, named PREFIX/0/attention,
  // PREFIX/0/cross_attention, …; the stack reads this text.
  struct MapsOptions {
    std::string prefix;
    AttentionMap::Text text;
    const AttentionMaps::Take& take;
  };
  void attention_maps(Variable x, const Mask& mask, const MapsOptions& options, const StackContext& context = {}) const;

  // Its attention, with the positions that its tokens get from these embeddings; the configuration is the stack's own.
  StackView view(const std::string& name, const StackConfig& config, const nn::InputEmbeddings& embeddings,
                 bool causal) const;

  // Whether a text that is read in windows can have the states of the whole: its attention has windows, and scores
  // that depend on distances alone.
  bool can_continue_windows() const;

  Index layers() const { return static_cast<Index>(layers_); }
  // The most positions before a token (and, unless it is causal, after it) that it attends to; 0: all.  With a memory,
  // that of a text that is read as a whole, as if every token were a sequence of its own.
  Index window() const { return window_; }
  // The same of sequences that continue earlier ones.
  Index window_after(const EarlierStates& earlier) const;

 private:
  // a x + b e of the states x and the embeddings e, of which the stack began. Source: Jordan et al. 2024,
  // "modded-nanogpt". Parameters: states [1], a, which starts as 1, and embeddings [1], b, as 0.
  class InputMix {
   public:
    explicit InputMix(const Scope& scope);
    Variable operator()(const Variable& x, const Variable& embeddings) const;

   private:
    Variable states_, embeddings_;
  };
  // Input of a layer.
  Variable input_of(std::size_t layer, const Variable& x, const Variable& embeddings) const;

  const nn::Block& block(std::size_t layer) const { return blocks_[layer % blocks_.size()]; }
  const nn::CrossAttention::Memory* memory_of(const Memories& memories, std::size_t layer) const {
    return memories.empty() ? nullptr : &memories[layer % memories.size()];
  }
  nn::BlockContext context_of(const StackContext& context, std::size_t layer) const;
  // A pass whose random numbers are the layer's own even in a block that several share, with its stochastic depth.
  Pass pass_of(const Pass& pass, std::size_t layer) const;

  std::size_t layers_;
  Index own_window_, window_;  // the configured window, and the smaller one of it and the memory
  double layer_dropout_;
  std::vector<nn::Block> blocks_;  // layers use them cyclically
  std::vector<InputMix> mixes_;    // for each layer but the first; empty: none
  std::optional<nn::Norm> norm_;
};

}  // namespace heddle::models
