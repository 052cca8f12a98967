#include "libcore/tensor/tensor.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "libcore/tensor/pool.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

namespace {

constexpr Index grain = 16384;  // elements per task

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

// Plain loops for every pair of types, so that each is compiled for every instruction set.
#define HEDDLE_RUN(FROM, TO)                                                            \
  [[maybe_unused]] HEDDLE_KERNEL void copy_run(const FROM* from, TO* to, Index count) { \
    for (Index i = 0; i < count; ++i) store(to[i], load(from[i]));                      \
  }                                                                                     \
  [[maybe_unused]] HEDDLE_KERNEL void add_run(const FROM* from, TO* to, Index count) {  \
    for (Index i = 0; i < count; ++i) store(to[i], load(to[i]) + load(from[i]));        \
  }
HEDDLE_RUN(Real, Real)
HEDDLE_RUN(Real, BFloat16)
HEDDLE_RUN(BFloat16, Real)
HEDDLE_RUN(BFloat16, BFloat16)
#undef HEDDLE_RUN

Index inner_stride(const Tensor& tensor) {
  return tensor.rank() == 0 ? 1 : tensor.stride(-1);
}

}  // namespace

Tensor::Tensor(const Shape& shape, DType dtype) : shape_(shape), strides_(row_major(shape)), dtype_(dtype) {
  auto block = pool().acquire(std::max(bytes_of(dtype), static_cast<std::size_t>(bytes_of(shape, dtype))));
  data_ = block.get();
  owner_ = std::move(block);
}

Tensor::Tensor(const Shape& shape, Real value) : Tensor(shape) {
  fill(value);
}

Tensor::Tensor(const Shape& shape, const std::vector<Real>& elements) : Tensor(shape) {
  check<ShapeError>(static_cast<Index>(elements.size()) == shape.size(), elements.size(), " elements for shape ",
                    shape);
  std::copy(elements.begin(), elements.end(), data());
}

Tensor::Tensor(const Shape& shape, DType dtype, void* elements, std::shared_ptr<void> owner)
    : shape_(shape), strides_(row_major(shape)), dtype_(dtype), owner_(std::move(owner)), data_(elements) {}

Tensor Tensor::quantised(const Tensor& numbers, const Tensor& scales) {
  check<ShapeError>(block_of(numbers.dtype()).row_scales && numbers.rank() == 2 && scales.is_contiguous() &&
                        scales.shape() == Shape{numbers.shape()[0]},
                    "int8 numbers of shape ", numbers.shape(), " with scales of shape ", scales.shape());
  Tensor result = numbers;
  result.scales_ = std::shared_ptr<const Real>(scales.owner_, scales.data());
  return result;
}

void Tensor::throw_wrong_dtype(DType wanted) const {
  throw ShapeError(concatenate("a tensor of ", name_of(dtype_), " where ", name_of(wanted), " is needed"));
}

bool Tensor::is_contiguous() const {
  Index stride = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] != 1 && strides_[static_cast<std::size_t>(i)] != stride) return false;
    stride *= shape_[i];
  }
  return true;
}

std::vector<Real> Tensor::elements() const {
  const Tensor whole = dtype_ == DType::real && is_contiguous() ? *this : as(DType::real);
  return {whole.data(), whole.data() + whole.size()};
}

Tensor Tensor::reshaped(const Shape& shape) const {
  check<ShapeError>(shape.size() == size(), "cannot reshape ", shape_, " to ", shape);
  check<ShapeError>(is_contiguous(), "cannot reshape a strided view of shape ", shape_);
  check<ShapeError>(is_plain(dtype_) || shape[-1] == shape_[-1], "cannot reshape rows of ", name_of(dtype_));
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
  const Index offset = begin * strides_[static_cast<std::size_t>(d)];
  check<ShapeError>(is_plain(dtype_) || d == 0, "rows of ", name_of(dtype_), " cannot be cut");
  Shape before = shape_;
  before.set(d, begin);
  view.data_ = static_cast<std::byte*>(data_) +
               (is_plain(dtype_) ? offset * static_cast<Index>(bytes_of(dtype_)) : bytes_of(before, dtype_));
  if (scales_) view.scales_ = std::shared_ptr<const Real>(scales_, scales_.get() + begin);
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

Tensor Tensor::merged(int dimension) const {
  const int d = shape_.resolve(dimension);
  check<ShapeError>(d + 1 < rank() && (shape_[d] <= 1 || stride(d) == shape_[d + 1] * stride(d + 1)),
                    "cannot merge dimension ", d, " of shape ", shape_, " with the next one");
  std::vector<Index> extents = shape_.extents();
  extents[static_cast<std::size_t>(d)] *= shape_[d + 1];
  extents.erase(extents.begin() + d + 1);
  Tensor view = *this;
  view.shape_ = Shape(extents);
  std::copy(strides_.begin() + d + 1, strides_.end(), view.strides_.begin() + d);
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

Tensor Tensor::as_matrix() const {
  return reshaped(Shape{size() / std::max<Index>(1, shape_[-1]), shape_[-1]});
}

Tensor Tensor::copy() const {
  Tensor result(shape_, dtype_);
  result.assign(*this);
  return result;
}

Tensor Tensor::as(DType dtype) const {
  if (dtype == dtype_ && is_contiguous()) return *this;
  Tensor result(shape_, dtype);
  result.assign(*this);
  return result;
}

void Tensor::fill(Real value) const {
  with_data([&](auto* to) {
    for_each_run(*this, *this, [&](Index offset, Index, Index length) {
      const Index stride = inner_stride(*this);
      for (Index i = 0; i < length; ++i) store(to[offset + i * stride], value);
    });
  });
}

// Calls body(to, from) with typed first elements of this and of source.
template <class Body>
void Tensor::with_pair(const Tensor& source, const Body& body) const {
  with_data([&](auto* to) { source.with_data([&](const auto* from) { body(to, from); }); });
}

void Tensor::assign(const Tensor& source) const {
  check<ShapeError>(shape_ == source.shape_, "cannot assign shape ", source.shape_, " to shape ", shape_);
  if (!is_plain(source.dtype_)) return assign_unpacked(source);
  const Index to_stride = inner_stride(*this), from_stride = inner_stride(source);
  with_pair(source, [&](auto* to, const auto* from) {
    for_each_run(*this, source, [&](Index a, Index b, Index length) {
      if (to_stride == 1 && from_stride == 1) return copy_run(from + b, to + a, length);
      for (Index i = 0; i < length; ++i) store(to[a + i * to_stride], load(from[b + i * from_stride]));
    });
  });
}

void Tensor::assign_unpacked(const Tensor& source) const {
  check<ShapeError>(source.is_contiguous(), "only whole rows of ", name_of(source.dtype_), " are unpacked");
  if (!is_contiguous()) return assign(source.as(DType::real));
  const Index width = shape_[-1];
  with_data([&]<class T>(T* to) {
    parallel_for(width == 0 ? 0 : size() / width, [&](Index row) {
      if constexpr (std::is_same_v<T, Real>) return unpack_row(source, row, to + row * width);
      static thread_local Workspace workspace;
      Real* const values = workspace.get<Real>(width);
      unpack_row(source, row, values);
      for (Index j = 0; j < width; ++j) store(to[row * width + j], values[j]);
    });
  });
}

void Tensor::add(const Tensor& source) const {
  check<ShapeError>(shape_ == source.shape_, "cannot add shape ", source.shape_, " to shape ", shape_);
  const Index to_stride = inner_stride(*this), from_stride = inner_stride(source);
  with_pair(source, [&](auto* to, const auto* from) {
    for_each_run(*this, source, [&](Index a, Index b, Index length) {
      if (to_stride == 1 && from_stride == 1) return add_run(from + b, to + a, length);
      for (Index i = 0; i < length; ++i) {
        auto& sum = to[a + i * to_stride];
        store(sum, load(sum) + load(from[b + i * from_stride]));
      }
    });
  });
}

void Tensor::scale(Real factor) const {
  check<ShapeError>(is_contiguous(), "cannot scale a strided view of shape ", shape_);
  with_data([&](auto* to) {
    parallel_ranges(size(), grain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) store(to[i], load(to[i]) * factor);
    });
  });
}

}  // namespace heddle
