// Dense arrays of Real. A Tensor is a handle: copies share their elements. Tensors made by the constructors are
// row-major; views may have other strides, over the same elements.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/base/real.hpp"
#include "heddle/tensor/shape.hpp"

namespace heddle {

class Tensor {
 public:
  using Strides = std::array<Index, Shape::max_rank>;

  Tensor() = default;                      // no elements: empty() is true
  explicit Tensor(const Shape& shape);     // elements not initialised
  Tensor(const Shape& shape, Real value);  // all elements the same
  Tensor(const Shape& shape, const std::vector<Real>& elements);
  // Elements that live elsewhere (a mapped file, say) and stay as long as the owner does.
  Tensor(const Shape& shape, Real* elements, std::shared_ptr<void> owner);

  bool empty() const { return data_ == nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  Index size() const { return shape_.size(); }
  Index stride(int dimension) const { return strides_[static_cast<std::size_t>(shape_.resolve(dimension))]; }
  bool is_contiguous() const;
  // Whether another handle shares the elements.
  bool is_shared() const { return owner_.use_count() > 1; }

  // The first element. Handles are shared, so constness is that of the handle.
  Real* data() const { return data_; }
  Real& operator[](Index i) const { return data_[i]; }
  std::vector<Real> elements() const;  // in row-major order

  // Views over the same elements.
  Tensor reshaped(const Shape& shape) const;                          // needs a contiguous tensor
  Tensor narrowed(int dimension, Index begin, Index length) const;    // [.., n, ..] -> [.., length, ..]
  Tensor split(int dimension, Index parts) const;                     // [.., n, ..] -> [.., parts, n / parts, ..]
  Tensor swapped(int first, int second) const;                        // exchanges two dimensions
  // Rows of the last dimension: [a, b, c] -> [a * b, c]; needs a contiguous tensor.
  Tensor as_matrix() const;

  Tensor copy() const;                         // a contiguous tensor of its own
  void fill(Real value) const;
  void assign(const Tensor& source) const;     // element by element; the same shape
  void add(const Tensor& source) const;        // this += source; the same shape
  void scale(Real factor) const;               // this *= factor; contiguous

 private:
  Shape shape_;
  Strides strides_{};
  std::shared_ptr<void> owner_;
  Real* data_ = nullptr;
};

// Token ids with a shape, [batch, time] as a rule.
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
