#include "libcore/tensor/shape.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "libcore/base/error.hpp"

namespace heddle {

Shape::Shape(std::initializer_list<Index> extents) : Shape(std::vector<Index>(extents)) {}

Shape::Shape(const std::vector<Index>& extents) : rank_(static_cast<int>(extents.size())) {
  check<ShapeError>(extents.size() <= max_rank, "a tensor of ", extents.size(), " dimensions; the most is ", +max_rank);
  for (const Index extent : extents) check<ShapeError>(extent >= 0, "negative extent ", extent, " in a tensor's shape");
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

Index Shape::size() const {
  Index product = 1;
  for (int i = 0; i < rank_; ++i) product *= extents_[static_cast<std::size_t>(i)];
  return product;
}

int Shape::resolve(int dimension) const {
  const int resolved = dimension < 0 ? dimension + rank_ : dimension;
  check<ShapeError>(resolved >= 0 && resolved < rank_, "no dimension ", dimension, " in shape ", *this);
  return resolved;
}

Shape Shape::without_last() const {
  std::vector<Index> all = extents();
  check<ShapeError>(!all.empty(), "a scalar has no last dimension");
  all.pop_back();
  return Shape(all);
}

Shape Shape::with_last(Index extent) const {
  std::vector<Index> all = extents();
  all.push_back(extent);
  return Shape(all);
}

std::string Shape::text() const {
  std::ostringstream out;
  out << *this;
  return out.str();
}

bool operator==(const Shape& a, const Shape& b) {
  return a.rank_ == b.rank_ && std::equal(a.extents_.begin(), a.extents_.begin() + a.rank_, b.extents_.begin());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank_; ++i) out << (i > 0 ? ", " : "") << shape.extents_[static_cast<std::size_t>(i)];
  return out << ']';
}

}  // namespace heddle
