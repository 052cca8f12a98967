#include "libcore/ops/head_product.hpp"

#include <algorithm>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/ops/attention_rows.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/operand.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index block_rows = 256;  // rows of x in one product

// A thread's memory, kept from task to task.
struct Scratch {
  Operand left{Operand::Side::left}, right{Operand::Side::right};
  Workspace products;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// The matrix of one head, or its transpose.
MatrixView weight_of(const Tensor& weight, Index head) {
  const Index rows = weight.shape()[1], columns = weight.shape()[2];
  const auto* const first = static_cast<const std::byte*>(weight.raw());
  return {first + head * rows * columns * static_cast<Index>(bytes_of(weight.dtype())),
          rows,
          columns,
          columns,
          false,
          weight.dtype()};
}

// y_h += x_h W_h, or x_h W_h^T.
void add_products(const Tensor& x, const Tensor& weight, bool transposed, const Tensor& y) {
  const Index heads = x.shape()[1], time = x.shape()[2], blocks = (time + block_rows - 1) / block_rows;
  count_matmul(time, y.shape()[3], x.shape()[3], x.shape()[0] * heads);
  parallel_for(x.shape()[0] * heads * blocks, [&](Index task) {
    const Index batch = task / blocks / heads, head = task / blocks % heads, begin = task % blocks * block_rows;
    const Index end = std::min(begin + block_rows, time), width = y.shape()[3], stride = padded_columns(width);
    Scratch& memory = scratch();
    memory.left.load(head_of(x, batch, head).rows_in(begin, end));
    memory.right.load(transposed ? weight_of(weight, head).flipped() : weight_of(weight, head));
    Real* const products = memory.products.get<Real>(padded_rows(end - begin) * stride);
    multiply(memory.left, memory.right, {0, width}, products, stride, false);
    const MatrixView to = head_of(y, batch, head);
    with_row_to_write(to, begin, [&](auto* row) { add_rows(products, stride, row, to.stride, end - begin, width); });
  });
}

// dW_h += sum over batches of x_h^T dy_h, in their order.
void add_weight_gradient(const Tensor& x, const Tensor& dy, const Tensor& dweight) {
  const Index heads = x.shape()[1], rows = x.shape()[3], columns = dy.shape()[3], stride = padded_columns(columns);
  count_matmul(rows, columns, x.shape()[2], x.shape()[0] * heads);
  parallel_for(heads, [&](Index head) {
    Scratch& memory = scratch();
    Real* const sums = memory.products.get<Real>(padded_rows(rows) * stride);
    for (Index batch = 0; batch < x.shape()[0]; ++batch) {
      memory.left.load(head_of(x, batch, head).flipped());
      memory.right.load(head_of(dy, batch, head));
      multiply(memory.left, memory.right, {0, columns}, sums, stride, batch > 0);
    }
    const MatrixView to = weight_of(dweight, head);
    with_row_to_write(to, 0, [&](auto* row) { add_rows(sums, stride, row, columns, rows, columns); });
  });
}

}  // namespace

Variable head_product(const Variable& x, const Variable& weight, std::optional<DType> output) {
  const Section section("head product");
  const Shape &s = x.shape(), &w = weight.shape();
  check<ShapeError>(s.rank() == 4 && w.rank() == 3 && s[1] == w[0] && s[3] == w[1] && weight.value().is_contiguous() &&
                        (x.value().stride(3) == 1 || s[3] == 1),
                    "head_product: x of shape ", s, " and matrices of shape ", w);
  const Tensor y({s[0], s[1], s[2], w[2]}, output.value_or(x.value().dtype()));
  y.fill(0);
  add_products(x.value(), weight.value(), false, y);
  return record(
      y, {x, weight},
      [x_value = weight.gradient() ? x.value() : Tensor(), weight_value = x.gradient() ? weight.value() : Tensor(),
       dx = x.gradient(), dweight = weight.gradient()](const Tensor& dy) {
        if (dx) add_products(dy, weight_value, true, dx->adding_target());
        if (dweight) add_weight_gradient(x_value, dy, dweight->adding_target());
      });
}

}  // namespace heddle::ops
