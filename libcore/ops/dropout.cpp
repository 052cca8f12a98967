#include "libcore/ops/dropout.hpp"

#include <algorithm>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index grain = 4096;

struct DropMask {
  RandomStream stream;
  std::uint32_t threshold;  // drop below it
  Real scale;
};

constexpr Index block = 64;  // elements whose random words are drawn at once; a power of two

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
HEDDLE_INLINE void apply_loop(const DropMask& mask, Index first, const X* x, Real beta, Y* y, Index count) {
  alignas(64) std::uint32_t words[block];
  for (Index i = 0; i < count;) {
    const Index at = first + i, skipped = at & (block - 1), drawn = std::min(block - skipped, count - i);
    mask.stream.sixteen_blocks(static_cast<std::uint64_t>(at - skipped) / 4, words);
    apply_words(words + skipped, mask, x + i, beta, y + i, drawn);
    i += drawn;
  }
}
HEDDLE_KERNEL void apply(const DropMask& mask, Index first, const Real* x, Real beta, Real* y, Index count) {
  apply_loop(mask, first, x, beta, y, count);
}
HEDDLE_KERNEL void apply(const DropMask& mask, Index first, const BFloat16* x, Real beta, BFloat16* y, Index count) {
  apply_loop(mask, first, x, beta, y, count);
}
HEDDLE_KERNEL void apply(const DropMask& mask, Index first, const Real* x, Real beta, BFloat16* y, Index count) {
  apply_loop(mask, first, x, beta, y, count);
}
HEDDLE_KERNEL void apply(const DropMask& mask, Index first, const BFloat16* x, Real beta, Real* y, Index count) {
  apply_loop(mask, first, x, beta, y, count);
}

void apply_all(const DropMask& mask, const std::vector<Index>& first, const Tensor& x, const Tensor& y, Real beta) {
  const Index run = x.size() / static_cast<Index>(first.size());
  x.with_data([&](const auto* from) {
    y.with_data([&](auto* to) {
      parallel_ranges(x.size(), grain, [&](Index begin, Index end) {
        while (begin < end) {
          const Index r = begin / run, inside = begin - r * run, count = std::min(run - inside, end - begin);
          apply(mask, first[static_cast<std::size_t>(r)] + inside, from + begin, beta, to + begin, count);
          begin += count;
        }
      });
    });
  });
}

}  // namespace

Variable dropout(const Variable& x, double rate, const RandomStream& stream, std::vector<Index> first) {
  const Section section("dropout");
  check<UsageError>(rate >= 0 && rate < 1, "`dropout` = ", rate, " must be at least 0 and less than 1");
  if (rate == 0) return x;
  check<ShapeError>(x.value().is_contiguous(), "dropout needs a contiguous tensor");
  check<ShapeError>(!first.empty() && x.value().size() % static_cast<Index>(first.size()) == 0, "dropout of ",
                    first.size(), " equal runs in ", x.shape());
  const DropMask mask{stream, static_cast<std::uint32_t>(rate * 0x1p32), static_cast<Real>(1 / (1 - rate))};
  const Tensor y(x.shape(), x.value().dtype());
  apply_all(mask, first, x.value(), y, 0);
  return record(y, {x}, [mask, first = std::move(first), gradient = x.gradient()](const Tensor& dy) {
    const GradientTarget dx = gradient->target();
    apply_all(mask, first, dy, dx.tensor, dx.beta());
  });
}

}  // namespace heddle::ops
