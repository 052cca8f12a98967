// One layer of a transformer: sublayers (self-attention, cross-attention, a feed-forward network), each with norm and
// residual, in one of three orders.
#pragma once

#include <optional>

#include "libcore/nn/feed_forward.hpp"
#include "libcore/nn/multi_head_attention.hpp"
#include "libcore/nn/norm.hpp"

namespace heddle {

enum class BlockOrder {
  pre,       // x + f(norm(x)) for each sublayer f in turn; the stack ends with one more norm (GPT-2)
  post,      // norm(x + f(x)) for each sublayer f in turn (Vaswani et al. 2017)
  parallel,  // x + attend(n) + feed(n), n = norm(x), for all sublayers together (Chowdhery et al. 2022, "PaLM")
};
template <>
struct Names<BlockOrder> {
  static constexpr std::pair<BlockOrder, std::string_view> list[] = {
      {BlockOrder::pre, "pre"}, {BlockOrder::post, "post"}, {BlockOrder::parallel, "parallel"}};
};

namespace nn {

struct BlockOptions {
  BlockOrder order = BlockOrder::pre;
  NormOptions norm{};
  AttentionOptions attention;
  FeedForwardOptions feed_forward;
  std::optional<AttentionOptions> cross_attention{};  // between self-attention and the feed-forward network
};

// Inputs of a block besides the hidden states.
struct BlockContext {
  Surroundings around{};                           // inputs of this block, too, so that its norm applies to them
  const CrossAttention::Memory* memory = nullptr;  // blocks with cross-attention; null for others
};

// Shapes: x [batch, time, width] -> the same.
// Parameters: attention_norm, attention, cross_attention_norm, cross_attention, feed_forward_norm, feed_forward; where
// the order is parallel, one norm, attention_norm.
class Block {
 public:
  // `stack`: the scope of what the layers of a stack share.
  Block(const Scope& scope, const Scope& stack, const BlockOptions& options);

  // Sets *cross_weights, where given, to the weights of cross-attention, [batch, heads, time, memory_time].
  Variable operator()(const Variable& x, const Mask& mask, const Pass& pass, const BlockContext& context = {},
                      PairWeights* cross_weights = nullptr) const;
  // The same at one position of each sequence, at a fraction of the cost: [batch, 1, width]. Precondition: no
  // cross-attention.
  Variable at(const std::vector<Index>& positions, const Variable& x, const Mask& mask, const Pass& pass,
              const Surroundings& around = {}) const;

  // Step by step, for decoding.
  std::unique_ptr<AttentionState> start(Index batch, Index capacity, DType cache) const {
    return attention_.start(batch, capacity, cache);
  }
  Tensor step(const Tensor& x, const StepRows& rows, Index window, AttentionState& state,
              const BlockContext& context = {}, PairWeights* cross_weights = nullptr) const;

  // The weights of self-attention for the input x, [batch, heads, time, time].
  PairWeights weights(const Variable& x, const Mask& mask, const Surroundings& around = {}) const;
  const SelfAttention& attention() const { return attention_; }
  const std::optional<CrossAttention>& cross_attention() const { return cross_; }

 private:
  // f(input) + residual, added in the matrix product unless there is dropout between them.
  using Sublayer = std::function<Variable(const Variable& input, const Variable& residual)>;
  Variable add(const Variable& rest, const Sublayer& f, const Variable& input, std::uint64_t site,
               const Pass& pass) const;
  struct Sublayers {
    Sublayer attend, cross;  // cross: empty for none
    Variable rest;           // x at the query positions
  };
  Variable run(const Variable& x, const Sublayers& sublayers, const Pass& pass) const;
  // Attention's input, computed from the block's.
  Variable read_of(const Variable& x) const;
  Surroundings read_of(const Surroundings& around) const;
  Sublayer crossing(const CrossAttention::Memory* memory, const Pass& pass, PairWeights* weights = nullptr) const;

  BlockOrder order_;
  Norm attention_norm_;
  SelfAttention attention_;
  std::optional<Norm> cross_norm_;
  std::optional<CrossAttention> cross_;
  std::optional<Norm> feed_forward_norm_;
  FeedForward feed_forward_;
  std::uint64_t attention_site_, cross_site_, feed_forward_site_;  // sites of dropout
};

}  // namespace nn
}  // namespace heddle
