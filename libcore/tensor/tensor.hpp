// Dense arrays. A Tensor is a handle: copies share their elements. Tensors made by the constructors are row-major;
// views may have other strides, over the same elements. Elements are Real unless a tensor was made with another type,
// which only some operations take; data() of such a tensor throws.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"
#include "libcore/tensor/dtype.hpp"
#include "libcore/tensor/shape.hpp"

namespace heddle {

// Bytes of a row-major tensor's elements, whose last dimension is a row.
inline Index bytes_of(const Shape& shape, DType dtype) {
  const Index width = shape.rank() == 0 ? 1 : shape[-1];
  return width == 0 ? 0 : shape.size() / width * bytes_of_row(dtype, width);
}

class Tensor {
 public:
  using Strides = std::array<Index, Shape::max_rank>;

  Tensor() = default;                                              // no elements: empty() is true
  explicit Tensor(const Shape& shape, DType dtype = DType::real);  // elements not initialised
  Tensor(const Shape& shape, Real value);                          // all elements the same
  Tensor(const Shape& shape, const std::vector<Real>& elements);
  // Elements in memory of the owner (a mapped file, for example), which the tensor keeps alive.
  Tensor(const Shape& shape, DType dtype, void* elements, std::shared_ptr<void> owner);
  // int8 [rows, columns] with one scale per row [rows].
  static Tensor quantised(const Tensor& numbers, const Tensor& scales);

  bool empty() const { return data_ == nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  Index size() const { return shape_.size(); }
  std::size_t bytes() const { return empty() ? 0 : static_cast<std::size_t>(bytes_of(shape_, dtype_)); }
  Index stride(int dimension) const { return strides_[static_cast<std::size_t>(shape_.resolve(dimension))]; }
  bool is_contiguous() const;
  // Whether another handle shares the elements.
  bool is_shared() const { return owner_.use_count() > 1; }

  // The first element; null when empty. Handles are shared, so constness is that of the handle. Throws ShapeError when
  // the elements are of another type.
  template <class T = Real>
  T* data() const {
    if (dtype_ != dtype_of<T>) throw_wrong_dtype(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  void* raw() const { return data_; }
  const Real* scales() const { return scales_.get(); }                      // row scales of int8; null for other types
  Real& operator[](Index i) const { return static_cast<Real*>(data_)[i]; }  // Real only, unchecked
  std::vector<Real> elements() const;                                       // in row-major order, as Real

  // Calls f with the first element, a Real* or a BFloat16*.
  template <class F>
  decltype(auto) with_data(F&& f) const {
    return dtype_ == DType::bfloat16 ? f(data<BFloat16>()) : f(data());
  }

  // Views over the same elements.
  Tensor reshaped(const Shape& shape) const;                        // needs a contiguous tensor
  Tensor narrowed(int dimension, Index begin, Index length) const;  // [.., n, ..] -> [.., length, ..]
  Tensor split(int dimension, Index parts) const;                   // [.., n, ..] -> [.., parts, n / parts, ..]
  // The opposite: [.., a, b, ..] -> [.., a * b, ..], a being the given dimension. Throws ShapeError where the elements
  // lie otherwise.
  Tensor merged(int dimension) const;
  Tensor swapped(int first, int second) const;  // exchanges two dimensions
  // Rows of the last dimension: [a, b, c] -> [a * b, c]; needs a contiguous tensor.
  Tensor as_matrix() const;

  Tensor copy() const;           // a contiguous tensor of its own, of the same type
  Tensor as(DType dtype) const;  // itself, or a contiguous copy of a plain type
  void fill(Real value) const;
  void assign(const Tensor& source) const;  // element by element; the same shape; plain targets, any type of source
  void add(const Tensor& source) const;     // this += source; the same shape, plain types
  void scale(Real factor) const;            // this *= factor; contiguous

 private:
  [[noreturn]] void throw_wrong_dtype(DType wanted) const;
  template <class Body>
  void with_pair(const Tensor& source, const Body& body) const;
  void assign_unpacked(const Tensor& source) const;

  Shape shape_;
  Strides strides_{};
  DType dtype_ = DType::real;
  std::shared_ptr<void> owner_;
  std::shared_ptr<const Real> scales_;
  void* data_ = nullptr;
};

// Token ids with a shape, usually [batch, time].
struct TokenIds {
  Shape shape;
  std::vector<TokenId> ids;

  TokenIds() = default;
  TokenIds(const Shape& ids_shape, std::vector<TokenId> values) : shape(ids_shape), ids(std::move(values)) {
    check<ShapeError>(shape.size() == static_cast<Index>(ids.size()), ids.size(), " ids for shape ", shape);
  }
  explicit TokenIds(const Shape& ids_shape) : shape(ids_shape), ids(static_cast<std::size_t>(ids_shape.size())) {}
};

}  // namespace heddle
