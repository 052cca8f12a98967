// The extents of a tensor, outermost first: [batch, time, width].
#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<Index> extents);
  explicit Shape(const std::vector<Index>& extents);

  int rank() const { return rank_; }
  // Negative dimensions count from the last: shape[-1] is the innermost extent.
  Index operator[](int dimension) const { return extents_[static_cast<std::size_t>(resolve(dimension))]; }
  void set(int dimension, Index extent) { extents_[static_cast<std::size_t>(resolve(dimension))] = extent; }
  // Product of the extents; 1 for rank 0.
  Index size() const;
  // The dimension counted from the first. Throws ShapeError when there is none.
  int resolve(int dimension) const;
  // The shape without its last dimension, or with one more after it.
  Shape without_last() const;
  Shape with_last(Index extent) const;
  std::vector<Index> extents() const { return {extents_.begin(), extents_.begin() + rank_}; }
  std::string text() const;  // "[2, 3, 4]"

  friend bool operator==(const Shape& a, const Shape& b);
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  std::array<Index, max_rank> extents_{};
  int rank_ = 0;
};

}  // namespace heddle
