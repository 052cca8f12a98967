#include "libcore/analysis/nearest.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::analysis {

namespace {

constexpr Index queries_at_once = 256;

// A copy whose rows have length 1, or are 0. Similarities of such rows can be sorted: none is NaN.
Tensor normalised(const Tensor& vectors) {
  const Tensor unit(vectors.shape());
  unit.assign(vectors);
  const Index width = unit.shape()[1];
  for (Index i = 0; i < unit.shape()[0]; ++i) {
    Real* const row = unit.data() + i * width;
    double squares = 0;
    for (Index j = 0; j < width; ++j) squares += static_cast<double>(row[j]) * static_cast<double>(row[j]);
    check<NumericError>(std::isfinite(squares), "vector ", i + 1, " is not finite: its model is damaged or diverged");
    const auto scale = static_cast<Real>(squares > 0 ? 1 / std::sqrt(squares) : 0);
    for (Index j = 0; j < width; ++j) row[j] *= scale;
  }
  return unit;
}

std::vector<Neighbour> best(const Real* similarities, Index count, Index k) {
  std::vector<Neighbour> neighbours;
  for (Index row = 0; row < count; ++row) neighbours.push_back({row, static_cast<double>(similarities[row])});
  const auto end = neighbours.begin() + std::min(k, count);
  std::partial_sort(neighbours.begin(), end, neighbours.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
  });
  neighbours.erase(end, neighbours.end());
  return neighbours;
}

}  // namespace

NearestVectors::NearestVectors(const Tensor& vectors) {
  check<ShapeError>(!vectors.empty() && vectors.rank() == 2 && vectors.size() > 0, "vectors of shape ",
                    vectors.shape());
  vectors_ = normalised(vectors);
}

std::vector<std::vector<Neighbour>> NearestVectors::find(const Tensor& queries, Index k) const {
  check<ShapeError>(queries.rank() == 2 && queries.shape()[1] == vectors_.shape()[1], "queries of shape ",
                    queries.shape(), " for vectors of shape ", vectors_.shape());
  const Tensor unit = normalised(queries);
  std::vector<std::vector<Neighbour>> found(static_cast<std::size_t>(unit.shape()[0]));
  for (Index begin = 0; begin < unit.shape()[0]; begin += queries_at_once) {
    const Index count = std::min(queries_at_once, unit.shape()[0] - begin);
    const Tensor similarities({count, size()});
    matmul(matrix(unit.narrowed(0, begin, count)), transpose(vectors_), target(similarities));
    parallel_for(count, [&](Index i) {
      found[static_cast<std::size_t>(begin + i)] = best(similarities.data() + i * size(), size(), k);
    });
  }
  return found;
}

}  // namespace heddle::analysis
