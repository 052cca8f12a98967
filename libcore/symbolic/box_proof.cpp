#include "libcore/symbolic/box_proof.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.hpp"

namespace heddle::symbolic {

namespace {

using Box = std::vector<Interval>;

Box cube(std::size_t dimension, double reach) {
  return Box(dimension, Interval{-reach, reach});
}

// Whether every matrix within the intervals is positive definite: the middle less the sums of the rows' radii is.
bool is_definite_within(const std::vector<Polynomial>& second, const FunctionProblem& problem, const Box& box) {
  const Box values = problem.intervals_in(box);
  const auto n = static_cast<Index>(box.size());
  RationalMatrix least(n);
  std::size_t at = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i; j < n; ++j) {
      const Interval entry = value_in(second[at++], values);
      if (!std::isfinite(entry.low) || !std::isfinite(entry.high)) return false;
      const Rational low = Rational::of(entry.low), high = Rational::of(entry.high), half = Rational(1) / Rational(2);
      const Rational radius = (high - low) * half;
      least.at(i, j) += (low + high) * half;
      least.at(i, i) -= radius;
      if (i == j) continue;
      least.at(j, i) += (low + high) * half;
      least.at(j, j) -= radius;
    }
  }
  return definiteness(least) == Definiteness::positive;
}

bool is_within(const Box& box, double reach) {
  return std::ranges::all_of(box, [&](const Interval& side) { return side.low >= -reach && side.high <= reach; });
}

// Cuts the widest side in two.
std::pair<Box, Box> halves(const Box& box) {
  const auto widest = std::ranges::max_element(box, {}, [](const Interval& side) { return side.high - side.low; });
  const auto at = static_cast<std::size_t>(widest - box.begin());
  std::pair<Box, Box> parts{box, box};
  parts.first[at].high = parts.second[at].low = box[at].low / 2 + box[at].high / 2;
  return parts;
}

// Whether the value is positive on all of the outer box that is not within the inner one.
bool is_positive_between(const Polynomial& polynomial, const FunctionProblem& problem, double outer, double inner) {
  std::vector<Box> open{cube(problem.names.size() - problem.functions.size(), outer)};
  for (Index count = 0; !open.empty(); ++count) {
    if (count == most_boxes) return false;
    const Box box = std::move(open.back());
    open.pop_back();
    if (is_within(box, inner)) continue;
    if (value_in(polynomial, problem.intervals_in(box)).low > 0) continue;
    auto [first, second] = halves(box);
    const bool is_cut = first != box && second != box;
    if (!is_cut) return false;
    open.push_back(std::move(first));
    open.push_back(std::move(second));
  }
  return true;
}

}  // namespace

bool is_positive_on_box(const Polynomial& polynomial, const std::vector<Polynomial>& second,
                        const FunctionProblem& problem, const Rational& reach) {
  const double outer = interval_of(reach).high;
  for (double inner = outer; inner > outer / 1000; inner /= 2) {
    try {
      if (is_definite_within(second, problem, cube(problem.names.size() - problem.functions.size(), inner)))
        return is_positive_between(polynomial, problem, outer, inner);
    } catch (const DataError&) {  // an interval in which a function may be undefined
      return false;
    }
  }
  return false;
}

}  // namespace heddle::symbolic
