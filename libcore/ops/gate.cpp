#include "libcore/ops/gate.hpp"

#include <algorithm>
#include <array>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

// y = f b, and what the backward pass multiplies dy with: df b for a, f for b; neither where `for_a` is null.
template <class T>
HEDDLE_INLINE void gate_loop(const Real* f, const Real* df, const T* b, T* y, T* for_a, T* for_b, Index count) {
  if (for_a == nullptr) {
    HEDDLE_SIMD
    for (Index i = 0; i < count; ++i) store(y[i], f[i] * load(b[i]));
    return;
  }
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) {
    const Real factor = load(b[i]);
    store(y[i], f[i] * factor);
    store(for_a[i], df[i] * factor);
    store(for_b[i], f[i]);
  }
}
HEDDLE_KERNEL void gate_run(const Real* f, const Real* df, const Real* b, Real* y, Real* for_a, Real* for_b,
                            Index count) {
  gate_loop(f, df, b, y, for_a, for_b, count);
}
HEDDLE_KERNEL void gate_run(const Real* f, const Real* df, const BFloat16* b, BFloat16* y, BFloat16* for_a,
                            BFloat16* for_b, Index count) {
  gate_loop(f, df, b, y, for_a, for_b, count);
}

// f(a) and f'(a) exist a chunk at a time, in the first cache.
template <class T>
void gate_chunks(Activation activation, const T* a, const T* b, T* y, T* for_a, T* for_b, Index count) {
  constexpr Index chunk = 512;
  std::array<Real, chunk> f, df;
  for (Index i = 0; i < count; i += chunk) {
    const Index length = std::min(chunk, count - i);
    const bool keeps = for_a != nullptr;
    activate_run(activation, a + i, f.data(), keeps ? df.data() : nullptr, length);
    gate_run(f.data(), df.data(), b + i, y + i, keeps ? for_a + i : nullptr, keeps ? for_b + i : nullptr, length);
  }
}

}  // namespace

Variable gate(const Variable& a, const Variable& b, Activation activation) {
  const Section section("gate");
  const DType dtype = a.value().dtype();
  check<ShapeError>(a.shape() == b.shape() && b.value().dtype() == dtype, "gate: values of shape ", a.shape(), " and ",
                    name_of(dtype), " by factors of shape ", b.shape(), " and ", name_of(b.value().dtype()));
  check_rows(a.value(), "gate");
  check_rows(b.value(), "gate");
  const Tensor y(a.shape(), dtype);
  const bool keeps = Recording::current() != nullptr;
  const Tensor for_a = keeps ? Tensor(a.shape(), dtype) : Tensor(), for_b = keeps ? Tensor(a.shape(), dtype) : Tensor();
  a.value().with_data([&]<class T>(T* from) {
    T *const factors = b.value().data<T>(), *const to = y.data<T>();
    T *const kept_a = keeps ? for_a.data<T>() : nullptr, *const kept_b = keeps ? for_b.data<T>() : nullptr;
    for_each_run({a.value(), b.value(), y}, [&](const auto& at, Index count) {
      gate_chunks(activation, from + at[0], factors + at[1], to + at[2], keeps ? kept_a + at[2] : nullptr,
                  keeps ? kept_b + at[2] : nullptr, count);
    });
  });
  return record(y, {a, b}, [for_a, for_b, da = a.gradient(), db = b.gradient()](const Tensor& dy) {
    if (da) contribute_product(dy, for_a, da->target());
    if (db) contribute_product(dy, for_b, db->target());
  });
}

}  // namespace heddle::ops
