#include "libcore/analysis/principal_components.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/analysis/dot_product.hpp"
#include "libcore/base/random.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::analysis {

namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;  // a list of vectors

// More directions than are wanted, since these converge the faster the more different the next ones are.
constexpr Index spare_directions = 8;
constexpr int most_rounds = 500;
constexpr double tolerance = 1e-12;

void add(Vector& y, double factor, const Vector& x) {
  for (std::size_t j = 0; j < y.size(); ++j) y[j] += factor * x[j];
}

Matrix centred(const Tensor& vectors) {
  check<ShapeError>(vectors.rank() == 2 && vectors.shape()[0] > 0, "principal components of vectors of shape ",
                    vectors.shape());
  const Tensor values(vectors.shape());
  values.assign(vectors);
  const Index count = values.shape()[0], width = values.shape()[1];
  Matrix rows;
  Vector mean(static_cast<std::size_t>(width), 0.0);
  for (Index i = 0; i < count; ++i) {
    rows.emplace_back(values.data() + i * width, values.data() + (i + 1) * width);
    add(mean, 1 / static_cast<double>(count), rows.back());
    check<NumericError>(std::isfinite(dot(rows.back(), rows.back())), "vector ", i + 1,
                        " is not finite: its model is damaged or diverged");
  }
  for (Vector& row : rows) add(row, -1, mean);
  return rows;
}

// Makes the vectors orthogonal and of length 1; those that depend on others become 0.
void orthonormalise(Matrix& vectors) {
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const double before = std::sqrt(dot(vectors[i], vectors[i]));
    for (int twice = 0; twice < 2; ++twice) {  // rounding errors of the first time
      for (std::size_t k = 0; k < i; ++k) add(vectors[i], -dot(vectors[i], vectors[k]), vectors[k]);
    }
    const double length = std::sqrt(dot(vectors[i], vectors[i]));
    const double scale = length > tolerance * before ? 1 / length : 0;
    for (double& value : vectors[i]) value *= scale;
  }
}

// [directions][rows]: the rows' coordinates along each direction.
Matrix coordinates_along(const Matrix& directions, const Matrix& rows) {
  Matrix result(directions.size(), Vector(rows.size()));
  parallel_for(static_cast<Index>(rows.size()), [&](Index i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t k = 0; k < directions.size(); ++k) result[k][row] = dot(directions[k], rows[row]);
  });
  return result;
}

// X^T X v of each direction v.
Matrix multiplied(const Matrix& directions, const Matrix& rows) {
  const Matrix along = coordinates_along(directions, rows);
  Matrix result(directions.size(), Vector(rows.front().size(), 0.0));
  parallel_for(static_cast<Index>(directions.size()), [&](Index k) {
    const auto direction = static_cast<std::size_t>(k);
    for (std::size_t i = 0; i < rows.size(); ++i) add(result[direction], along[direction][i], rows[i]);
  });
  return result;
}

// The eigenvectors of a small symmetric matrix, by Jacobi's rotations: rows of `vectors`, the largest value first.
struct Eigen {
  Vector values;
  Matrix vectors;
};

void rotate(Matrix& a, Matrix& vectors, std::size_t p, std::size_t q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  const auto turn = [&](double& x, double& y) {
    const double before = x;
    x = c * before - s * y;
    y = s * before + c * y;
  };
  for (std::size_t k = 0; k < a.size(); ++k) turn(a[k][p], a[k][q]);
  for (std::size_t k = 0; k < a.size(); ++k) turn(a[p][k], a[q][k]);
  for (std::size_t k = 0; k < a.size(); ++k) turn(vectors[p][k], vectors[q][k]);
}

Eigen eigen(Matrix a) {
  constexpr int sweeps = 30;  // more than they ever need
  const std::size_t size = a.size();
  Matrix vectors(size, Vector(size, 0.0));
  for (std::size_t i = 0; i < size; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) rotate(a, vectors, p, q);
    }
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
  Eigen result;
  for (const std::size_t i : order) {
    result.values.push_back(a[i][i]);
    result.vectors.push_back(vectors[i]);
  }
  return result;
}

// Turns the directions into the eigenvectors of X^T X within the space that they span; returns the eigenvalues.
Vector turn_to_eigenvectors(Matrix& directions, const Matrix& products) {
  Matrix inner(directions.size(), Vector(directions.size()));
  for (std::size_t i = 0; i < directions.size(); ++i) {
    for (std::size_t k = i; k < directions.size(); ++k) {
      inner[i][k] = inner[k][i] = dot(directions[i], products[k]);
    }
  }
  const Eigen found = eigen(std::move(inner));
  Matrix turned;
  for (const Vector& combination : found.vectors) {
    Vector sum(directions.front().size(), 0.0);
    for (std::size_t k = 0; k < directions.size(); ++k) add(sum, combination[k], directions[k]);
    turned.push_back(std::move(sum));
  }
  directions = std::move(turned);
  return found.values;
}

// The eigenvectors with the largest eigenvalues, by subspace iteration from random directions.
Vector largest(Matrix& directions, const Matrix& rows, std::size_t wanted) {
  Vector values(directions.size(), 0.0);
  orthonormalise(directions);
  for (int round = 0; round < most_rounds; ++round) {
    Matrix products = multiplied(directions, rows);
    const Vector found = turn_to_eigenvectors(directions, products);
    double change = 0;
    for (std::size_t k = 0; k < wanted; ++k) change = std::max(change, std::abs(found[k] - values[k]));
    values = found;
    if (change <= tolerance * values.front()) break;
    directions = multiplied(directions, rows);
    orthonormalise(directions);
  }
  return values;
}

}  // namespace

PrincipalComponents principal_components(const Tensor& vectors, Index components) {
  const Matrix rows = centred(vectors);
  const auto count = static_cast<Index>(rows.size()), width = static_cast<Index>(rows.front().size());
  const Index wanted = std::min({components, count - 1, width});
  PrincipalComponents result{Matrix(rows.size()), {}};
  double variance = 0;
  for (const Vector& row : rows) variance += dot(row, row);
  if (wanted <= 0) return result;
  Matrix directions(static_cast<std::size_t>(std::min({wanted + spare_directions, count, width})),
                    Vector(static_cast<std::size_t>(width)));
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const RandomStream random(k, 0);
    for (std::size_t j = 0; j < directions[k].size(); ++j) directions[k][j] = random.normal(j);
  }
  const Vector values = largest(directions, rows, static_cast<std::size_t>(wanted));
  directions.resize(static_cast<std::size_t>(wanted));
  for (std::size_t k = 0; k < directions.size(); ++k) {
    Vector along = coordinates_along({directions[k]}, rows).front();
    const double furthest = *std::ranges::max_element(along, {}, [](double x) { return std::abs(x); });
    for (std::size_t i = 0; i < rows.size(); ++i) result.coordinates[i].push_back(furthest < 0 ? -along[i] : along[i]);
    result.explained.push_back(variance > 0 ? values[k] / variance : 0);
  }
  return result;
}

}  // namespace heddle::analysis
