#include "heddle/tensor/tensor.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "heddle/tensor/pool.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index grain = 16384;  // elements a task

Tensor::Strides row_major(const Shape& shape) {
  Tensor::Strides strides{};
  Index stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

// Calls body(offset of a, offset of b, length) for every innermost run of two tensors of the same shape.
template <class Body>
void for_each_run(const Tensor& a, const Tensor& b, const Body& body) {
  const Shape& shape = a.shape();
  const int rank = shape.rank();
  const Index length = rank == 0 ? 1 : shape[-1];
  const Index runs = length == 0 ? 0 : shape.size() / length;
  parallel_ranges(runs, std::max<Index>(1, grain / std::max<Index>(1, length)), [&](Index begin, Index end) {
    for (Index run = begin; run < end; ++run) {
      Index rest = run, offset_a = 0, offset_b = 0;
      for (int i = rank - 2; i >= 0; --i) {
        const Index at = rest % shape[i];
        rest /= shape[i];
        offset_a += at * a.stride(i);
        offset_b += at * b.stride(i);
      }
      body(offset_a, offset_b, length);
    }
  });
}

Index inner_stride(const Tensor& tensor) { return tensor.rank() == 0 ? 1 : tensor.stride(-1); }

}  // namespace

Tensor::Tensor(const Shape& shape) : shape_(shape), strides_(row_major(shape)) {
  auto block = pool().acquire(static_cast<std::size_t>(std::max<Index>(1, shape.size())) * sizeof(Real));
  data_ = reinterpret_cast<Real*>(block.get());
  owner_ = std::move(block);
}

Tensor::Tensor(const Shape& shape, Real value) : Tensor(shape) { fill(value); }

Tensor::Tensor(const Shape& shape, const std::vector<Real>& elements) : Tensor(shape) {
  check<ShapeError>(static_cast<Index>(elements.size()) == shape.size(), elements.size(), " elements for shape ", shape);
  std::copy(elements.begin(), elements.end(), data_);
}

Tensor::Tensor(const Shape& shape, Real* elements, std::shared_ptr<void> owner)
    : shape_(shape), strides_(row_major(shape)), owner_(std::move(owner)), data_(elements) {}

bool Tensor::is_contiguous() const {
  Index stride = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] != 1 && strides_[static_cast<std::size_t>(i)] != stride) return false;
    stride *= shape_[i];
  }
  return true;
}

std::vector<Real> Tensor::elements() const {
  const Tensor whole = is_contiguous() ? *this : copy();
  return {whole.data(), whole.data() + whole.size()};
}

Tensor Tensor::reshaped(const Shape& shape) const {
  check<ShapeError>(shape.size() == size(), "cannot reshape ", shape_, " to ", shape);
  check<ShapeError>(is_contiguous(), "cannot reshape a strided view of shape ", shape_);
  Tensor view = *this;
  view.shape_ = shape;
  view.strides_ = row_major(shape);
  return view;
}

Tensor Tensor::narrowed(int dimension, Index begin, Index length) const {
  const int d = shape_.resolve(dimension);
  check<ShapeError>(begin >= 0 && length >= 0 && begin + length <= shape_[d], "rows ", begin, " to ", begin + length,
                    " of dimension ", d, " of shape ", shape_);
  Tensor view = *this;
  view.shape_.set(d, length);
  view.data_ += begin * strides_[static_cast<std::size_t>(d)];
  return view;
}

Tensor Tensor::split(int dimension, Index parts) const {
  const int d = shape_.resolve(dimension);
  check<ShapeError>(parts > 0 && shape_[d] % parts == 0, "cannot split dimension ", d, " of shape ", shape_, " into ",
                    parts, " equal parts");
  std::vector<Index> extents = shape_.extents();
  extents[static_cast<std::size_t>(d)] /= parts;
  extents.insert(extents.begin() + d, parts);
  Tensor view = *this;
  view.shape_ = Shape(extents);
  std::copy_backward(strides_.begin() + d, strides_.end() - 1, view.strides_.end());
  view.strides_[static_cast<std::size_t>(d)] = strides_[static_cast<std::size_t>(d)] * view.shape_[d + 1];
  return view;
}

Tensor Tensor::swapped(int first, int second) const {
  const int a = shape_.resolve(first), b = shape_.resolve(second);
  Tensor view = *this;
  view.shape_.set(a, shape_[b]);
  view.shape_.set(b, shape_[a]);
  std::swap(view.strides_[static_cast<std::size_t>(a)], view.strides_[static_cast<std::size_t>(b)]);
  return view;
}

Tensor Tensor::as_matrix() const { return reshaped(Shape{size() / std::max<Index>(1, shape_[-1]), shape_[-1]}); }

Tensor Tensor::copy() const {
  Tensor result(shape_);
  result.assign(*this);
  return result;
}

void Tensor::fill(Real value) const {
  for_each_run(*this, *this, [&](Index offset, Index, Index length) {
    const Index stride = inner_stride(*this);
    for (Index i = 0; i < length; ++i) data_[offset + i * stride] = value;
  });
}

void Tensor::assign(const Tensor& source) const {
  check<ShapeError>(shape_ == source.shape_, "cannot assign shape ", source.shape_, " to shape ", shape_);
  const Index to = inner_stride(*this), from = inner_stride(source);
  for_each_run(*this, source, [&](Index a, Index b, Index length) {
    for (Index i = 0; i < length; ++i) data_[a + i * to] = source.data_[b + i * from];
  });
}

void Tensor::add(const Tensor& source) const {
  check<ShapeError>(shape_ == source.shape_, "cannot add shape ", source.shape_, " to shape ", shape_);
  const Index to = inner_stride(*this), from = inner_stride(source);
  for_each_run(*this, source, [&](Index a, Index b, Index length) {
    for (Index i = 0; i < length; ++i) data_[a + i * to] += source.data_[b + i * from];
  });
}

void Tensor::scale(Real factor) const {
  check<ShapeError>(is_contiguous(), "cannot scale a strided view of shape ", shape_);
  parallel_ranges(size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) data_[i] *= factor;
  });
}

}  // namespace heddle
