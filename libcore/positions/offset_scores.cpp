#include "libcore/positions/offset_scores.hpp"

#include "libcore/ops/batched_matmul.hpp"
#include "libcore/ops/linear.hpp"

namespace heddle {

namespace {

Variable project_query(const Variable& x, const Variable& vectors, const Variable& weight) {
  const Index heads = x.shape()[1], head_width = x.shape()[3], width = weight.shape()[1];
  const auto heads_first = [](const Tensor& t) { return t.swapped(0, 2); };
  const Variable matrices = view(as_reals(weight), [=](const Tensor& t) {
    return t.reshaped({1, heads, head_width, width});
  });
  const Variable projected = view(ops::batched_matmul(view(x, heads_first), matrices), heads_first);
  return ops::offset_products(projected, view(vectors, [](const Tensor& t) {
                                return t.reshaped({1, t.shape()[0], t.shape()[1]});
                              }));
}

}  // namespace

Variable offset_scores(const Variable& x, const Variable& vectors, const Variable& weight) {
  if (Recording::current() == nullptr && x.shape()[2] == 1) return project_query(x, vectors, weight);
  const Variable projected =
      ops::linear(vectors, weight, {}, {.output = DType::real});  // [offsets, heads * head_width]
  return ops::offset_products(
      x, view(projected, [heads = x.shape()[1]](const Tensor& t) { return t.split(-1, heads).swapped(0, 1); }));
}

}  // namespace heddle
