// Scaled dot-product attention: w_ij = softmax_j(q_i . k_j / sqrt(head_width)).
// Source: Vaswani et al. 2017, "Attention is all you need", equation 1.
#include <algorithm>
#include <cmath>

#include "heddle/attention/attention.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

// The keys and values of all positions so far: [batch, heads, capacity, head_width] each.
class KeyValueCache : public AttentionState {
 public:
  KeyValueCache(Index batch, Index capacity, HeadShape shape, Element element)
      : keys_({batch, shape.heads, capacity, shape.width}, element), values_(keys_.shape(), element) {
    // Masked positions count nothing, but nothing times what memory happens to hold may be no number.
    keys_.fill(0);
    values_.fill(0);
  }

  void append(const Tensor& key, const Tensor& value, const std::vector<Index>& seen, const std::vector<Index>& added) {
    const Index batch = key.shape()[0], capacity = keys_.shape()[2];
    for (std::size_t b = 0; b < seen.size(); ++b) {
      check<ShapeError>(seen[b] + added[b] <= capacity, "a cache of ", capacity, " positions is full");
    }
    parallel_for(batch, [&](Index row) {
      const Index count = added[static_cast<std::size_t>(row)];
      const auto part = [&](const Tensor& t, Index begin) { return t.narrowed(0, row, 1).narrowed(2, begin, count); };
      part(keys_, seen[static_cast<std::size_t>(row)]).assign(part(key, 0));
      part(values_, seen[static_cast<std::size_t>(row)]).assign(part(value, 0));
    });
  }

  void reorder(const std::vector<Index>& rows) override {
    keys_ = picked(keys_, rows);
    values_ = picked(values_, rows);
  }

  Variable keys(Index time) const { return Variable(keys_.narrowed(2, 0, time)); }
  Variable values(Index time) const { return Variable(values_.narrowed(2, 0, time)); }

 private:
  static Tensor picked(const Tensor& from, const std::vector<Index>& rows) {
    Shape shape = from.shape();
    shape.set(0, static_cast<Index>(rows.size()));
    const Tensor to(shape, from.element());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      to.narrowed(0, static_cast<Index>(i), 1).assign(from.narrowed(0, rows[i], 1));
    }
    return to;
  }

  Tensor keys_, values_;
};

class DotAttention : public Attention {
 public:
  explicit DotAttention(HeadShape shape) : scale_(static_cast<Real>(1 / std::sqrt(static_cast<double>(shape.width)))) {}

  Variable mix(const Variable& query, const Variable& key, const Variable& value, const Mask& mask) const override {
    return ops::fused_attention(query, key, value, {.scale = scale_, .mask = mask});
  }

  std::unique_ptr<AttentionState> start(Index batch, Index capacity, HeadShape shape, Element element) const override {
    return std::make_unique<KeyValueCache>(batch, capacity, shape, element);
  }

  Tensor step(const Tensor& query, const Tensor& key, const Tensor& value, const std::vector<Index>& seen,
              const std::vector<Index>& added, Index window, AttentionState& state) const override {
    auto& cache = dynamic_cast<KeyValueCache&>(state);
    cache.append(key, value, seen, added);
    Mask mask{.causal = true, .window = window, .key_lengths = seen, .query_offsets = seen};
    for (std::size_t b = 0; b < added.size(); ++b) mask.key_lengths[b] += added[b];
    const Index time = *std::max_element(mask.key_lengths.begin(), mask.key_lengths.end());
    return mix(Variable(query), cache.keys(time), cache.values(time), mask).value();
  }

 private:
  Real scale_;
};

}  // namespace

std::unique_ptr<Attention> make_DotAttention(Settings&, HeadShape shape) { return std::make_unique<DotAttention>(shape); }

}  // namespace heddle
