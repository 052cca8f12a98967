#include "heddle/ops/dropout.hpp"

#include <algorithm>

#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index grain = 4096;

struct DropMask {
  RandomStream stream;
  std::uint32_t threshold;  // drop below it
  Real scale;
  Index first;
};

constexpr Index run = 64;  // elements whose random words are drawn at once; a power of two

// y[i] = beta y[i] + x[i] * (0 or scale) for i in [0, count); words has one for each.
template <class X, class Y>
HEDDLE_INLINE void apply_words(const std::uint32_t* words, const DropMask& mask, const X* x, Real beta, Y* y,
                               Index count) {
  if (beta == 0) {
    HEDDLE_SIMD
    for (Index i = 0; i < count; ++i) {
      const Real scaled = load(x[i]) * mask.scale;
      store(y[i], words[i] < mask.threshold ? Real(0) : scaled);
    }
    return;
  }
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) {
    const Real scaled = load(x[i]) * mask.scale;
    store(y[i], load(y[i]) + (words[i] < mask.threshold ? Real(0) : scaled));
  }
}

template <class X, class Y>
HEDDLE_INLINE void apply_loop(const DropMask& mask, const X* x, Real beta, Y* y, Index begin, Index end) {
  alignas(64) std::uint32_t words[run];
  for (Index i = begin; i < end;) {
    const Index at = mask.first + i, skipped = at & (run - 1), count = std::min(run - skipped, end - i);
    mask.stream.sixteen_blocks(static_cast<std::uint64_t>(at - skipped) / 4, words);
    apply_words(words + skipped, mask, x + i, beta, y + i, count);
    i += count;
  }
}
HEDDLE_KERNEL void apply(const DropMask& mask, const Real* x, Real beta, Real* y, Index begin, Index end) {
  apply_loop(mask, x, beta, y, begin, end);
}
HEDDLE_KERNEL void apply(const DropMask& mask, const BFloat16* x, Real beta, BFloat16* y, Index begin, Index end) {
  apply_loop(mask, x, beta, y, begin, end);
}
HEDDLE_KERNEL void apply(const DropMask& mask, const Real* x, Real beta, BFloat16* y, Index begin, Index end) {
  apply_loop(mask, x, beta, y, begin, end);
}
HEDDLE_KERNEL void apply(const DropMask& mask, const BFloat16* x, Real beta, Real* y, Index begin, Index end) {
  apply_loop(mask, x, beta, y, begin, end);
}

void apply_all(const DropMask& mask, const Tensor& x, const Tensor& y, Real beta) {
  x.with_data([&](const auto* from) {
    y.with_data([&](auto* to) {
      parallel_ranges(x.size(), grain, [&](Index begin, Index end) { apply(mask, from, beta, to, begin, end); });
    });
  });
}

}  // namespace

Variable dropout(const Variable& x, double rate, const RandomStream& stream, Index first) {
  const Section section("dropout");
  check<UsageError>(rate >= 0 && rate < 1, "dropout = ", rate, " must be at least 0 and less than 1");
  if (rate == 0) return x;
  check<ShapeError>(x.value().is_contiguous(), "dropout needs a contiguous tensor");
  const DropMask mask{stream, static_cast<std::uint32_t>(rate * 0x1p32), static_cast<Real>(1 / (1 - rate)), first};
  const Tensor y(x.shape(), x.value().element());
  apply_all(mask, x.value(), y, 0);
  return record(y, {x}, [mask, gradient = x.gradient()](const Tensor& dy) {
    const GradientTarget dx = gradient->target();
    apply_all(mask, dy, dx.tensor, dx.beta());
  });
}

}  // namespace heddle::ops
