#include "libcore/analysis/neighbour_map.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/analysis/principal_components.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::analysis {

namespace {

using Matrix = std::vector<std::vector<double>>;
using Points = std::vector<std::array<double, 2>>;

constexpr double exaggeration = 12;

Matrix squared_distances(const Tensor& vectors) {
  const Tensor values(vectors.shape());
  values.assign(vectors);
  const auto count = static_cast<std::size_t>(values.shape()[0]), width = static_cast<std::size_t>(values.shape()[1]);
  Matrix distances(count, std::vector<double>(count, 0.0));
  parallel_for(static_cast<Index>(count), [&](Index task) {
    const auto i = static_cast<std::size_t>(task);
    const Real* const a = values.data() + i * width;
    for (std::size_t j = 0; j < count; ++j) {
      const Real* const b = values.data() + j * width;
      for (std::size_t k = 0; k < width; ++k) {
        const double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
        distances[i][j] += difference * difference;
      }
    }
  });
  return distances;
}

// Fills the row with probabilities of this precision, and returns their entropy in nats.
double fill_row(const std::vector<double>& distances, std::size_t own, double precision, std::vector<double>& row) {
  double least = INFINITY;
  for (std::size_t j = 0; j < row.size(); ++j) least = j == own ? least : std::min(least, distances[j]);
  double sum = 0, mean = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const double further = distances[j] - least;
    row[j] = j == own ? 0 : std::exp(-precision * further);
    sum += row[j];
    mean += row[j] * further;
  }
  for (double& value : row) value /= sum;
  return std::log(sum) + precision * mean / sum;
}

// The joint probabilities (p(j | i) + p(i | j)) / 2n.
Matrix joint(const Matrix& conditional) {
  Matrix result = conditional;
  const auto count = static_cast<double>(conditional.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t j = 0; j < result.size(); ++j) {
      result[i][j] = std::max(1e-12, (conditional[i][j] + conditional[j][i]) / (2 * count));
    }
  }
  return result;
}

// The first two components, so small that all points are neighbours.
Points first_points(const Tensor& vectors) {
  const PrincipalComponents components = principal_components(vectors, 2);
  Points points(components.coordinates.size(), {0, 0});
  double squares = 0;
  for (const auto& each : components.coordinates) squares += each.empty() ? 0 : each[0] * each[0];
  const double scale = squares > 0 ? 1e-4 / std::sqrt(squares / static_cast<double>(points.size())) : 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& each = components.coordinates[i];
    for (std::size_t k = 0; k < each.size(); ++k) points[i][k] = scale * each[k];
  }
  return points;
}

double similarity(const std::array<double, 2>& a, const std::array<double, 2>& b) {
  const double x = a[0] - b[0], y = a[1] - b[1];
  return 1 / (1 + x * x + y * y);
}

// The gradient of the Kullback-Leibler divergence: 4 sum over j of (attraction p_ij - q_ij) s_ij (y_i - y_j), where
// s_ij is the similarity and q_ij = s_ij / sum of all.
Points gradient(const Points& points, const Matrix& p, double attraction) {
  const auto count = static_cast<Index>(points.size());
  std::vector<double> sums(points.size(), 0.0);
  parallel_for(count, [&](Index task) {
    const auto i = static_cast<std::size_t>(task);
    for (std::size_t j = 0; j < points.size(); ++j) sums[i] += i == j ? 0 : similarity(points[i], points[j]);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  Points result(points.size(), {0, 0});
  parallel_for(count, [&](Index task) {
    const auto i = static_cast<std::size_t>(task);
    for (std::size_t j = 0; j < points.size(); ++j) {
      const double s = i == j ? 0 : similarity(points[i], points[j]);
      const double force = 4 * (attraction * p[i][j] - s / total) * s;
      for (std::size_t k = 0; k < 2; ++k) result[i][k] += force * (points[i][k] - points[j][k]);
    }
  });
  return result;
}

}  // namespace

Matrix neighbour_probabilities(const Matrix& distances, double perplexity) {
  constexpr int halvings = 100;
  Matrix probabilities(distances.size(), std::vector<double>(distances.size()));
  parallel_for(static_cast<Index>(distances.size()), [&](Index task) {
    const auto i = static_cast<std::size_t>(task);
    double low = 0, high = INFINITY, precision = 1;
    for (int round = 0; round < halvings; ++round) {
      const double entropy = fill_row(distances[i], i, precision, probabilities[i]);
      const bool too_wide = entropy > std::log(perplexity);
      (too_wide ? low : high) = precision;
      precision = std::isinf(high) ? precision * 2 : (low + high) / 2;
    }
  });
  return probabilities;
}

Points neighbour_map(const Tensor& vectors, const NeighbourMapOptions& options) {
  Points points = first_points(vectors);
  const auto count = static_cast<double>(points.size());
  if (points.size() < 4) return points;
  const double perplexity = std::min(options.perplexity, (count - 1) / 3);
  const Matrix p = joint(neighbour_probabilities(squared_distances(vectors), perplexity));
  const double rate = std::max(count / exaggeration / 4, 50.0);
  Points velocity(points.size(), {0, 0}), gain(points.size(), {1, 1});
  for (int step = 0; step < options.steps; ++step) {
    const bool early = step < options.steps / 3;
    const double momentum = early ? 0.5 : 0.8;
    const Points slope = gradient(points, p, early ? exaggeration : 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t k = 0; k < 2; ++k) {
        const bool turns = (slope[i][k] > 0) == (velocity[i][k] > 0);
        gain[i][k] = std::max(0.01, turns ? gain[i][k] * 0.8 : gain[i][k] + 0.2);
        velocity[i][k] = momentum * velocity[i][k] - rate * gain[i][k] * slope[i][k];
        points[i][k] += velocity[i][k];
      }
    }
  }
  return points;
}

}  // namespace heddle::analysis
