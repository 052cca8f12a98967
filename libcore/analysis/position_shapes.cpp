#include "libcore/analysis/position_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace heddle::analysis {

namespace {

// Whether two rows of a table differ.
bool has_several_rows(const Grid& table) {
  for (Index row = 1; row < table.rows; ++row) {
    for (Index column = 0; column < table.columns; ++column) {
      if (table.at(row, column) != table.at(0, column)) return true;
    }
  }
  return false;
}

Grid as_grid(const Tensor& tensor, Index rows, Index columns) {
  Grid grid(rows, columns);
  const std::vector<Real> elements = tensor.elements();
  std::ranges::copy(elements, grid.values.begin());
  return grid;
}

// The two columns of pair k of so many.
struct Pairs {
  bool neighbours;
  Index first(Index k) const { return neighbours ? 2 * k : k; }
  Index second(Index k, Index pairs) const { return neighbours ? 2 * k + 1 : k + pairs; }
};
constexpr Pairs both_pairings[] = {{true}, {false}};

double angle_between(double from, double to) {
  return std::remainder(to - from, 2 * std::numbers::pi);
}

// None where the points are not on a circle.
std::optional<Circle> circle_of(const Grid& table, Index first, Index second) {
  constexpr double tolerance = 1e-3;
  double least = std::numeric_limits<double>::infinity(), most = 0, sum = 0, turned = 0;
  double angle = std::atan2(table.at(0, second), table.at(0, first));
  for (Index row = 0; row < table.rows; ++row) {
    const double x = table.at(row, first), y = table.at(row, second), squared = x * x + y * y;
    least = std::min(least, squared);
    most = std::max(most, squared);
    sum += squared;
    if (row == 0) continue;
    const double next = std::atan2(y, x);
    turned += angle_between(angle, next);
    angle = next;
  }
  if (!(least > 0) || !(most - least <= tolerance * least)) return std::nullopt;
  return Circle{first, second, std::sqrt(sum / static_cast<double>(table.rows)),
                turned / static_cast<double>(table.rows - 1)};
}

std::vector<Circle> circles_of(const Grid& table, const Pairs& pairing) {
  const Index pairs = table.columns / 2;
  std::vector<Circle> circles;
  for (Index k = 0; k < pairs; ++k) {
    const std::optional<Circle> circle = circle_of(table, pairing.first(k), pairing.second(k, pairs));
    if (!circle) return {};
    circles.push_back(*circle);
  }
  return circles;
}

Grid added_vectors(const PositionsInLayer& in, Index positions) {
  const Variable zeros(Tensor({1, positions, in.width}, Real(0)));
  return as_grid(in.scheme->embed(zeros, {}).value(), positions, in.width);
}

// The layer's transformation of this query at each position, in the first head.
Grid moved_queries(const PositionsInLayer& in, Index positions, const std::vector<Real>& query) {
  const Index width = in.heads.key_width;
  const auto same_everywhere = [&](Index heads) {
    const Tensor x({1, heads, positions, width});
    for (Index i = 0; i < x.size(); ++i) x[i] = query[static_cast<std::size_t>(i % width)];
    return Variable(x);
  };
  const PositionedHeads at =
      in.layer->apply(same_everywhere(in.heads.heads), same_everywhere(in.heads.kv_heads), {{}, {}, positions});
  return as_grid(at.query.value().narrowed(1, 0, 1).copy(), positions, width);
}

}  // namespace

std::vector<Circle> circles_of(const Grid& table) {
  if (table.rows < 3 || table.columns < 2) return {};
  for (const Pairs& pairing : both_pairings) {
    std::vector<Circle> circles = circles_of(table, pairing);
    if (!circles.empty()) return circles;
  }
  return {};
}

std::optional<PositionVectors> position_vectors(const PositionsInLayer& in, Index positions) {
  Grid added = added_vectors(in, positions);
  if (added.largest() > 0) {
    std::vector<Circle> circles = circles_of(added);
    return PositionVectors{PositionVectors::Of::embeddings, std::move(added), std::move(circles)};
  }
  if (in.layer == nullptr) return std::nullopt;
  const auto width = static_cast<std::size_t>(in.heads.key_width);
  const std::vector<Real> ones(width, Real(1));
  Grid moved = moved_queries(in, positions, ones);
  if (!has_several_rows(moved)) return std::nullopt;
  const Index pairs = in.heads.key_width / 2;
  for (const Pairs& pairing : both_pairings) {
    std::vector<Real> query(width, Real(0));
    for (Index k = 0; k < pairs; ++k) query[static_cast<std::size_t>(pairing.first(k))] = 1;
    Grid turned = moved_queries(in, positions, query);
    if (turned.rows < 3) break;
    std::vector<Circle> circles = circles_of(turned, pairing);
    if (!circles.empty()) return PositionVectors{PositionVectors::Of::queries, std::move(turned), std::move(circles)};
  }
  return PositionVectors{PositionVectors::Of::queries, std::move(moved), {}};
}

Similarity similarity_of(const Grid& vectors, SimilarityMeasure measure) {
  const Index n = vectors.rows;
  const auto product = [&](Index i, Index j) {
    double sum = 0;
    for (Index column = 0; column < vectors.columns; ++column) sum += vectors.at(i, column) * vectors.at(j, column);
    return sum;
  };
  std::vector<double> lengths;
  for (Index i = 0; i < n; ++i) lengths.push_back(std::sqrt(product(i, i)));
  Similarity result{.all = Grid(n, n)};
  const auto count = static_cast<std::size_t>(n);
  result.mean.assign(count, 0);
  result.least.assign(count, std::numeric_limits<double>::infinity());
  result.most.assign(count, -std::numeric_limits<double>::infinity());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double both = lengths[static_cast<std::size_t>(i)] * lengths[static_cast<std::size_t>(j)];
      const double value = measure == SimilarityMeasure::dot ? product(i, j) : (both == 0 ? 0 : product(i, j) / both);
      result.all.at(i, j) = result.all.at(j, i) = value;
      const auto distance = static_cast<std::size_t>(i - j);
      result.mean[distance] += value / static_cast<double>(n - (i - j));
      result.least[distance] = std::isnan(value) ? value : std::min(result.least[distance], value);
      result.most[distance] = std::isnan(value) ? value : std::max(result.most[distance], value);
    }
  }
  return result;
}

namespace {

// The entry of a row of a table by offset.
double entry(const Real* row, Index columns, Index zero, Index offset) {
  return static_cast<double>(row[std::clamp(offset + zero, Index{0}, columns - 1)]);
}

double dot_of_rows(const Real* a, const Real* b, Index width) {
  double sum = 0;
  for (Index i = 0; i < width; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

OffsetBias bias_by_offset(const PositionsInLayer& in, Index positions) {
  const Index heads = in.heads.heads, groups = heads / in.heads.kv_heads, width = in.heads.key_width;
  const Index query_at = positions - 1, keys = in.causal ? positions : 2 * positions - 1;
  OffsetBias result{.first = -query_at, .heads = Grid(heads, keys)};
  if (in.layer == nullptr) return result;
  const double root = std::sqrt(static_cast<double>(width));
  const auto element = static_cast<Real>(1 / std::sqrt(root));
  const PositionedHeads at =
      in.layer->apply(Variable(Tensor({1, heads, 1, width}, element)),
                      Variable(Tensor({1, in.heads.kv_heads, keys, width}, element)), {{query_at}, {}, positions});
  const Tensor query = at.query.value().copy(), key = at.key.value().copy();
  const double plain = static_cast<double>(width) * static_cast<double>(element) * static_cast<double>(element);
  const ops::OffsetTerms& terms = at.offsets;
  const auto contiguous = [](const Variable& x) { return x.empty() ? Tensor() : x.value().copy(); };
  const Tensor bias = contiguous(terms.bias), of_query = contiguous(terms.query.values),
               of_key = contiguous(terms.key.values);
  for (Index h = 0; h < heads; ++h) {
    for (Index j = 0; j < keys; ++j) {
      const Index offset = j - query_at, key_row = h / groups * keys + j;
      double product = dot_of_rows(query.data() + h * width, key.data() + key_row * width, width);
      if (!of_query.empty()) {
        const Index columns = of_query.shape()[3];
        product += entry(of_query.data() + h * columns, columns, terms.query.zero, offset);
      }
      if (!of_key.empty()) {
        const Index columns = of_key.shape()[3];
        product += entry(of_key.data() + (h * keys + j) * columns, columns, terms.key.zero, offset);
      }
      double score = (product - plain) / root;
      if (!bias.empty()) {
        const Index columns = bias.shape()[1], row = bias.shape()[0] == 1 ? 0 : h;
        score += entry(bias.data() + row * columns, columns, columns / 2, offset);
      }
      result.heads.at(h, j) = score;
    }
  }
  return result;
}

}  // namespace heddle::analysis
