// One layer of a transformer: attention and a feed-forward network, each with norm and residual.
#pragma once

#include "heddle/nn/feed_forward.hpp"
#include "heddle/nn/multi_head_attention.hpp"
#include "heddle/nn/norm.hpp"

namespace heddle {

enum class NormPosition {
  pre,   // x + f(norm(x)); the stack ends with one more norm (GPT-2)
  post,  // norm(x + f(x)) (Vaswani et al. 2017)
};
template <>
struct Names<NormPosition> {
  static constexpr std::pair<NormPosition, std::string_view> list[] = {{NormPosition::pre, "pre"},
                                                                        {NormPosition::post, "post"}};
};

namespace nn {

struct BlockOptions {
  NormPosition norm_position = NormPosition::pre;
  NormOptions norm{};
  AttentionOptions attention;
  FeedForwardOptions feed_forward;
};

// Shapes: x [batch, time, width] -> the same.
class Block {
 public:
  Block(const Scope& scope, const BlockOptions& options);
  Variable operator()(const Variable& x, const Mask& mask, const Pass& pass) const;
  // The same at one position of each sequence, which takes a fraction of the work: [batch, 1, width].
  Variable at(const std::vector<Index>& positions, const Variable& x, const Mask& mask, const Pass& pass) const;

  std::unique_ptr<AttentionState> start(Index batch, Index capacity, Element cache) const {
    return attention_.start(batch, capacity, cache);
  }
  Tensor step(const Tensor& x, const StepRows& rows, Index window, AttentionState& state) const;

 private:
  template <class Sublayer>
  Variable residual(const Variable& x, const Variable& rest, const Norm& norm, std::uint64_t site, const Pass& pass,
                    const Sublayer& sublayer) const;
  Variable feed(const Variable& x, const Pass& pass) const;

  NormPosition norm_position_;
  Norm attention_norm_;
  MultiHeadAttention attention_;
  Norm feed_forward_norm_;
  FeedForward feed_forward_;
  std::uint64_t attention_site_, feed_forward_site_;  // of dropout
};

}  // namespace nn
}  // namespace heddle
