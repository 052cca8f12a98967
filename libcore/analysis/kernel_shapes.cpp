#include "libcore/analysis/kernel_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/analysis/dot_product.hpp"
#include "libcore/base/random.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::analysis {

namespace {

using Vector = std::vector<double>;

// a x + b y
Vector combined(double a, const Vector& x, double b, const Vector& y) {
  Vector result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = a * x[i] + b * y[i];
  return result;
}

Vector of_length_1(const Vector& x) {
  return combined(1 / std::sqrt(dot(x, x)), x, 0, x);
}

ProbePlane random_plane(Index width, std::uint64_t seed, std::uint64_t number) {
  const RandomStream stream(seed, random_site("kernel shapes"), number);
  const auto count = static_cast<std::uint64_t>(width);
  Vector first, second;
  for (std::uint64_t i = 0; i < count; ++i) {
    first.push_back(stream.normal(i));
    second.push_back(stream.normal(count + i));
  }
  first = of_length_1(first);
  return {first, of_length_1(combined(1, second, -dot(first, second), first))};
}

// A row of the batch for each probe, with the same query and keys in every head.
struct ProbeTensors {
  Variable query, key;
};
// queries [rows][width], keys [rows][keys][width]
ProbeTensors tensors_of(const HeadShape& shape, const std::vector<Vector>& queries,
                        const std::vector<std::vector<Vector>>& keys) {
  const auto rows = static_cast<Index>(queries.size());
  const Index key_time = static_cast<Index>(keys.front().size()), width = shape.key_width;
  const Tensor query({rows, shape.heads, 1, width}), key({rows, shape.kv_heads, key_time, width});
  const auto put = [&](const Tensor& to, Index row, const Vector& from) {
    for (Index i = 0; i < width; ++i) to[row * width + i] = static_cast<Real>(from[static_cast<std::size_t>(i)]);
  };
  for (Index row = 0; row < rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (Index h = 0; h < shape.heads; ++h) put(query, row * shape.heads + h, queries[at]);
    for (Index h = 0; h < shape.kv_heads; ++h) {
      for (Index j = 0; j < key_time; ++j) {
        put(key, (row * shape.kv_heads + h) * key_time + j, keys[at][static_cast<std::size_t>(j)]);
      }
    }
  }
  return {Variable(query), Variable(key)};
}

// [rows, heads, 1, keys]
Tensor weights_of(const Attention& variant, const ProbeTensors& probes) {
  return variant.weights({.query = probes.query, .key = probes.key, .value = probes.key}).weights;
}

AttentionSupport needed_by(const PositionsInLayer& in) {
  AttentionSupport needed{.causal = in.causal, .weights = true};
  if (in.layer == nullptr) return needed;
  const PositionNeeds needs = in.layer->needs();
  needed.bias = needs.bias;
  needed.relative = needs.relative;
  needed.offset_values = needs.offset_values;
  return needed;
}

}  // namespace

ProbePlane probe_plane(ProbeDirection direction, Index width, std::uint64_t seed) {
  check<UsageError>(width >= 2, "a head width of ", width, " has no plane; it must be at least 2");
  if (direction == ProbeDirection::random) return random_plane(width, seed, 0);
  const auto count = static_cast<std::size_t>(width);
  ProbePlane plane{Vector(count, 0), Vector(count, 0)};
  if (direction == ProbeDirection::axis) {
    plane.first[0] = plane.second[1] = 1;
    return plane;
  }
  check<UsageError>(width % 2 == 0, "the diagonal needs an even head width, not ", width);
  for (std::size_t i = 0; i < count; ++i) {
    plane.first[i] = 1 / std::sqrt(static_cast<double>(width));
    plane.second[i] = i % 2 == 0 ? plane.first[i] : -plane.first[i];
  }
  return plane;
}

KernelProbe probe_along(const ProbePlane& plane, double length, const std::vector<double>& displacements) {
  KernelProbe probe{combined(length, plane.first, 0, plane.second), {}};
  for (const double x : displacements) probe.keys.push_back(combined(length + x, plane.first, 0, plane.second));
  return probe;
}

KernelProbe probe_around(const ProbePlane& plane, double length, const std::vector<double>& angles) {
  KernelProbe probe{combined(length, plane.first, 0, plane.second), {}};
  for (const double angle : angles) {
    probe.keys.push_back(combined(length * std::cos(angle), plane.first, length * std::sin(angle), plane.second));
  }
  return probe;
}

KernelProbe probe_over(const ProbePlane& plane, double length, const std::vector<double>& coordinates) {
  KernelProbe probe{combined(length, plane.first, 0, plane.second), {}};
  for (const double y : coordinates) {
    for (const double x : coordinates) probe.keys.push_back(combined(x, plane.first, y, plane.second));
  }
  return probe;
}

Grid relative_weights(const Attention& variant, const HeadShape& shape, const KernelProbe& probe) {
  constexpr Index numbers_at_once = Index{1} << 21;  // elements in the queries of a call
  const auto at_once = static_cast<std::size_t>(std::max<Index>(1, numbers_at_once / (shape.heads * shape.key_width)));
  const auto count = static_cast<Index>(probe.keys.size());
  Grid result(shape.heads, count);
  for (std::size_t begin = 0; begin < probe.keys.size(); begin += at_once) {
    const std::size_t rows = std::min(at_once, probe.keys.size() - begin);
    std::vector<std::vector<Vector>> keys;
    for (std::size_t i = 0; i < rows; ++i) keys.push_back({probe.query, probe.keys[begin + i]});
    const Tensor weights = weights_of(variant, tensors_of(shape, std::vector<Vector>(rows, probe.query), keys));
    for (std::size_t i = 0; i < rows; ++i) {
      for (Index h = 0; h < shape.heads; ++h) {
        const Real* const both = weights.data() + (static_cast<Index>(i) * shape.heads + h) * 2;
        result.at(h, static_cast<Index>(begin + i)) = static_cast<double>(both[1]) / static_cast<double>(both[0]);
      }
    }
  }
  return result;
}

OffsetWeights weights_by_offset(const Attention& variant, const std::string& text, const PositionsInLayer& in,
                                Index positions) {
  check_support(text, variant.support(), needed_by(in));
  const Index query_at = positions - 1, keys = in.causal ? positions : 2 * positions - 1, width = in.heads.key_width;
  const auto element = static_cast<Real>(std::pow(static_cast<double>(width), -0.25));
  AttentionCall call{.query = Variable(Tensor({1, in.heads.heads, 1, width}, element)),
                     .key = Variable(Tensor({1, in.heads.kv_heads, keys, width}, element)),
                     .value = Variable(Tensor({1, in.heads.kv_heads, keys, in.heads.value_width}, Real(0))),
                     .mask = {.causal = in.causal, .query_offsets = {query_at}}};
  if (in.layer != nullptr) {
    const PositionedHeads at = in.layer->apply(call.query, call.key, {call.mask.query_offsets, {}, positions});
    call.query = at.query;
    call.key = at.key;
    call.offsets = at.offsets;
  }
  const Tensor weights = variant.weights(call).weights;
  OffsetWeights result{.first = -query_at, .heads = Grid(in.heads.heads, keys)};
  for (Index h = 0; h < in.heads.heads; ++h) {
    const Real* const row = weights.data() + h * keys;
    for (Index j = 0; j < keys; ++j) {
      result.heads.at(h, j) = static_cast<double>(row[j]) / static_cast<double>(row[query_at]);
    }
  }
  return result;
}

std::string with_setting(std::string_view text, const std::string& setting, Index value) {
  const std::size_t colon = text.find(':');
  std::vector<std::string> settings;
  if (colon != std::string_view::npos) {
    for (const std::string& each : split(text.substr(colon + 1), ',')) {
      if (!each.starts_with(setting + "=")) settings.push_back(each);
    }
  }
  settings.push_back(setting + "=" + std::to_string(value));
  return std::string(text.substr(0, colon)) + ":" + join(settings, ",");
}

double estimate_error(const Attention& estimate, const Attention& exact, const HeadShape& shape, double length,
                      Index planes, std::uint64_t seed) {
  constexpr Index angles = 33;
  std::vector<double> turns;
  for (Index i = 0; i < angles; ++i) turns.push_back(std::numbers::pi * static_cast<double>(i) / (angles - 1));
  std::vector<Vector> queries;
  std::vector<std::vector<Vector>> keys;
  for (Index plane = 0; plane < planes; ++plane) {
    KernelProbe probe =
        probe_around(random_plane(shape.key_width, seed, static_cast<std::uint64_t>(plane)), length, turns);
    queries.push_back(std::move(probe.query));
    keys.push_back(std::move(probe.keys));
  }
  const ProbeTensors probes = tensors_of(shape, queries, keys);
  const std::vector<Real> estimated = weights_of(estimate, probes).elements(),
                          wanted = weights_of(exact, probes).elements();
  double sum = 0;
  for (std::size_t i = 0; i < estimated.size(); ++i) {
    const double ratio = static_cast<double>(estimated[i]) / static_cast<double>(wanted[i]);
    sum += (ratio - 1) * (ratio - 1);
  }
  return std::sqrt(sum / static_cast<double>(estimated.size()));
}

}  // namespace heddle::analysis
