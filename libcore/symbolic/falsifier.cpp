#include "libcore/symbolic/falsifier.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

namespace heddle::symbolic {

namespace {

using Point = std::vector<double>;

// Function that is searched for a negative value.
class SearchTarget {
 public:
  virtual ~SearchTarget() = default;
  virtual std::size_t dimension() const = 0;
  // The value, of any scale.
  virtual double at(const Point& x) = 0;
  // The point as rational numbers, if the value is negative there for certain.
  virtual std::optional<Counterexample> confirmed(const Point& x) const = 0;
};

// The polynomial in floating point.
class NumericPolynomial {
 public:
  explicit NumericPolynomial(const Polynomial& polynomial) : powers_(static_cast<std::size_t>(polynomial.variables())) {
    for (const Term& term : polynomial.terms()) {
      Monomial monomial{.coefficient = term.coefficient.value(), .factors = {}};
      for (std::size_t i = 0; i < term.exponents.size(); ++i) {
        if (term.exponents[i] == 0) continue;
        monomial.factors.emplace_back(i, static_cast<std::size_t>(term.exponents[i]));
        powers_[i].resize(std::max(powers_[i].size(), static_cast<std::size_t>(term.exponents[i]) + 1));
      }
      monomials_.push_back(std::move(monomial));
    }
  }

  // The value divided by the sum of the terms' absolute values: from -1 to 1.
  double at(const Point& x) {
    for (std::size_t i = 0; i < powers_.size(); ++i) {
      double power = 1;
      for (double& entry : powers_[i]) {
        entry = power;
        power *= x[i];
      }
    }
    double sum = 0, size = 0;
    for (const Monomial& monomial : monomials_) {
      double term = monomial.coefficient;
      for (const auto& [variable, exponent] : monomial.factors) term *= powers_[variable][exponent];
      sum += term;
      size += std::abs(term);
    }
    return size > 0 && std::isfinite(size) ? sum / size : 0;
  }

 private:
  struct Monomial {
    double coefficient;
    std::vector<std::pair<std::size_t, std::size_t>> factors;
  };
  std::vector<Monomial> monomials_;
  std::vector<std::vector<double>> powers_;  // for each variable, the powers that occur
};

// The first of ever more exact points near x that `check` takes.
template <class Check>
std::optional<Counterexample> first_confirmed(const Point& x, const Check& check) {
  if (!std::ranges::all_of(x, [](double value) { return std::isfinite(value); })) return std::nullopt;
  for (const double tolerance : {3e-2, 1e-3, 1e-6, 0.0}) {
    std::vector<Rational> point;
    for (const double value : x)
      point.push_back(tolerance > 0 ? Rational::simplest(value, tolerance * std::abs(value)) : Rational::of(value));
    if (auto value = check(point)) return Counterexample{std::move(point), std::move(*value)};
  }
  return std::nullopt;
}

class PolynomialTarget : public SearchTarget {
 public:
  explicit PolynomialTarget(const Polynomial& polynomial) : polynomial_(polynomial), numeric_(polynomial) {}
  std::size_t dimension() const override { return static_cast<std::size_t>(polynomial_.variables()); }
  double at(const Point& x) override { return numeric_.at(x); }
  std::optional<Counterexample> confirmed(const Point& x) const override {
    return first_confirmed(x, [&](const std::vector<Rational>& point) -> std::optional<Rational> {
      Rational exact = polynomial_.at(point);
      if (exact.sign() < 0) return exact;
      return std::nullopt;
    });
  }

 private:
  const Polynomial& polynomial_;
  NumericPolynomial numeric_;
};

class FunctionTarget : public SearchTarget {
 public:
  FunctionTarget(const Polynomial& polynomial, const FunctionProblem& problem)
      : polynomial_(polynomial), problem_(problem), numeric_(polynomial) {}
  std::size_t dimension() const override { return problem_.names.size() - problem_.functions.size(); }
  // 0 where rounding outwards leaves the domain of a function.
  double at(const Point& x) override {
    try {
      const Point values = problem_.values_at(x);
      return std::ranges::all_of(values, [](double value) { return std::isfinite(value); }) ? numeric_.at(values) : 0;
    } catch (const DataError&) {
      return 0;
    }
  }
  std::optional<Counterexample> confirmed(const Point& x) const override {
    return first_confirmed(x, [&](const std::vector<Rational>& point) -> std::optional<Rational> {
      std::vector<Interval> box;
      for (const Rational& coordinate : point) box.push_back(interval_of(coordinate));
      try {
        const Interval value = value_in(polynomial_, problem_.intervals_in(box));
        if (value.high < 0 && std::isfinite(value.high)) return Rational::of(value.high);
      } catch (const DataError&) {  // as above
      }
      return std::nullopt;
    });
  }

 private:
  const Polynomial& polynomial_;
  const FunctionProblem& problem_;
  NumericPolynomial numeric_;
};

struct Candidate {
  double value;
  Point point;
};

// Every other sample has a direction of equal chance and one length; the others have a length for each coordinate,
// since terms of different degrees balance where coordinates differ by orders of magnitude.
Candidate sample(SearchTarget& target, std::size_t n, const RandomStream& stream, std::uint64_t index, double reach) {
  Point x(n);
  const std::uint64_t first = index * (4 * n + 2);
  const bool is_round = index % 2 == 0;
  double length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = stream.normal(first / 2 + i);
    if (!is_round)
      x[i] =
          std::copysign(std::pow(10, reach > 0 ? 0 : 3) * std::pow(10, -6 * stream.uniform(first + 2 * n + i)), x[i]);
    length += x[i] * x[i];
  }
  double scale = reach > 0 ? reach : 1;
  if (is_round) scale = (reach > 0 ? reach : 10) * std::pow(10, -3 * stream.uniform(first + 2 * n)) / std::sqrt(length);
  for (double& value : x) value *= scale;
  const double value = target.at(x);
  return {value, std::move(x)};
}

// Random steps that shrink while none leads down.
void descend(SearchTarget& target, Candidate& best, const RandomStream& stream, double reach) {
  double step = 0.3;
  for (std::uint64_t i = 0; i < 150 && step > 1e-6; ++i) {
    Point x = best.point;
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += step * (std::abs(x[k]) + 0.01) * stream.normal(i * x.size() + k);
    if (reach > 0)
      for (double& coordinate : x) coordinate = std::clamp(coordinate, -reach, reach);
    const double value = target.at(x);
    if (value < best.value) {
      best = {value, std::move(x)};
      step *= 1.5;
    } else {
      step *= 0.9;
    }
  }
}

bool is_within_reach(const Counterexample& found, double reach) {
  return reach <= 0 || std::ranges::all_of(found.point, [&](const Rational& value) {
           return !(Rational::of(reach) < value) && !(value < Rational::of(-reach));
         });
}

std::optional<Counterexample> search(SearchTarget& target, const SearchSettings& settings) {
  const auto& [samples, descents, seed, reach] = settings;
  const std::size_t n = target.dimension();
  const RandomStream stream(seed, random_site("falsifier"));
  std::vector<Candidate> lowest;
  for (Index i = 0; i < samples; ++i) {
    Candidate candidate = sample(target, n, stream, static_cast<std::uint64_t>(i), reach);
    if (candidate.value < -1e-9)
      if (auto found = target.confirmed(candidate.point); found && is_within_reach(*found, reach)) return found;
    if (descents == 0) continue;
    const bool is_full = lowest.size() == static_cast<std::size_t>(descents);
    if (is_full && candidate.value >= lowest.back().value) continue;
    if (is_full) lowest.pop_back();
    const auto at = std::ranges::upper_bound(lowest, candidate.value, {}, &Candidate::value);
    lowest.insert(at, std::move(candidate));
  }
  for (std::size_t i = 0; i < lowest.size(); ++i) {
    descend(target, lowest[i], RandomStream(seed, random_site("descent"), i), reach);
    if (lowest[i].value >= 0) continue;
    if (auto found = target.confirmed(lowest[i].point); found && is_within_reach(*found, reach)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Counterexample> negative_point(const Polynomial& polynomial, const SearchSettings& settings) {
  if (polynomial.is_zero()) return std::nullopt;
  PolynomialTarget target(polynomial);
  return search(target, settings);
}

std::optional<Counterexample> negative_point(const Polynomial& polynomial, const FunctionProblem& problem,
                                             const SearchSettings& settings) {
  if (polynomial.is_zero()) return std::nullopt;
  FunctionTarget target(polynomial, problem);
  SearchSettings fewer = settings;  // a function costs as much as a hundred terms
  fewer.samples /= 10;
  return search(target, fewer);
}

std::optional<Counterexample> zero_on_grid(const Polynomial& polynomial) {
  const Index n = std::min<Index>(polynomial.variables(), 6);
  Index points = 1;
  for (Index i = 0; i < n; ++i) points *= 3;
  for (Index p = 1; p < points; ++p) {
    std::vector<Rational> point(static_cast<std::size_t>(polynomial.variables()));
    for (Index rest = p, i = 0; i < n; ++i, rest /= 3)
      point[static_cast<std::size_t>(i)] = Rational(rest % 3 == 2 ? -1 : rest % 3);
    Rational value = polynomial.at(point);
    if (value.sign() <= 0) return Counterexample{std::move(point), std::move(value)};
  }
  return std::nullopt;
}

std::string point_text(const std::vector<Rational>& point, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < point.size(); ++i) text += (i == 0 ? "" : ", ") + names[i] + " = " + point[i].text();
  return text;
}

}  // namespace heddle::symbolic
