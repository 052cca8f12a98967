#include "libcore/ops/dropout.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

RandomStream stream(std::uint64_t step = 0, const char* site = "dropout") {
  return {1, random_site(site), step};
}

Tensor dropped(const Tensor& x, double rate, const RandomStream& random, Index first = 0) {
  return ops::dropout(Variable(x), rate, random, {first}).value();
}

}  // namespace

TEST_CASE("dropout: gradients") {
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 3, 7}, Shape{3, 3001}}) {
    CAPTURE(shape);
    for (const Index first : {0, 3, 1000002}) {
      check_operation([first](const auto& in) { return ops::dropout(in[0], 0.3, stream(), {first}); },
                      {normal_tensor(shape, 1)});
    }
  }
}

TEST_CASE("dropout: drops at the rate it is given, scales the rest and keeps the expectation") {
  constexpr Index count = 200000;
  const Tensor x({count}, 3);
  for (const double rate : {0.1, 0.5, 0.9}) {
    CAPTURE(rate);
    Index zeros = 0;
    double sum = 0;
    for (const double y : doubles(dropped(x, rate, stream()))) {
      zeros += y == 0 ? 1 : 0;
      sum += y;
      if (y != 0) REQUIRE(y == doctest::Approx(3 / (1 - rate)).epsilon(1e-6));
    }
    const double stddev = std::sqrt(rate * (1 - rate) / count);
    CHECK(std::abs(static_cast<double>(zeros) / count - rate) < 4 * stddev);
    CHECK(std::abs(sum / count - 3) < 4 * 3 * stddev / (1 - rate));
  }
}

TEST_CASE("dropout: the mask is that of the stream, another one at another step or site") {
  const Tensor x({1000}, 1);
  const std::vector<Real> mask = dropped(x, 0.5, stream()).elements();
  CHECK(dropped(x, 0.5, stream()).elements() == mask);
  for (const RandomStream& other : {stream(1), stream(0, "elsewhere"), RandomStream(2, random_site("dropout"))}) {
    const std::vector<Real> different = dropped(x, 0.5, other).elements();
    Index agreements = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) agreements += mask[i] == different[i] ? 1 : 0;
    CHECK(std::abs(agreements - 500) < 80);
  }
}

TEST_CASE("dropout: cutting a tensor and counting on with `first` changes nothing") {
  const Index count = 10007;
  const Tensor x = normal_tensor({count}, 1);
  const std::vector<Real> whole = dropped(x, 0.4, stream()).elements();
  for (const Index cut : {Index{1}, Index{4}, Index{4095}, Index{4098}, count - 1}) {
    CAPTURE(cut);
    std::vector<Real> parts = dropped(x.narrowed(0, 0, cut), 0.4, stream()).elements();
    const std::vector<Real> rest = dropped(x.narrowed(0, cut, count - cut), 0.4, stream(), cut).elements();
    parts.insert(parts.end(), rest.begin(), rest.end());
    CHECK(parts == whole);
  }
}

TEST_CASE("dropout: runs with firsts of their own are the parts of a longer tensor") {
  const Tensor whole = normal_tensor({70, 130}, 1), expected = dropped(whole, 0.4, stream());
  // A few, and so many that threads divide them within runs.
  for (const Index count : {3, 64}) {
    CAPTURE(count);
    const Tensor x({count, 130});
    std::vector<Index> rows, first;
    for (Index r = 0; r < count; ++r) {
      rows.push_back((5 + 9 * r) % 70);
      x.narrowed(0, r, 1).assign(whole.narrowed(0, rows.back(), 1));
      first.push_back(rows.back() * 130);
    }
    const Tensor y = ops::dropout(Variable(x), 0.4, stream(), first).value();
    for (Index r = 0; r < count; ++r) {
      CHECK(y.narrowed(0, r, 1).elements() == expected.narrowed(0, rows[static_cast<std::size_t>(r)], 1).elements());
    }
    if (count == 3) check_operation([&](const auto& in) { return ops::dropout(in[0], 0.4, stream(), first); }, {x});
  }
  CHECK_THROWS_AS(ops::dropout(Variable(whole), 0.4, stream(), {0, 1, 2}), ShapeError);
}

TEST_CASE("dropout: a rate of zero is the identity, and rates that are none are refused") {
  const Variable x = leaf(normal_tensor({5}, 1));
  CHECK(ops::dropout(x, 0, stream()).value().data() == x.value().data());
  for (const double rate : {-0.1, 1.0, 2.0, std::nan("")}) {
    CAPTURE(rate);
    CHECK_THROWS_AS(ops::dropout(x, rate, stream()), UsageError);
  }
}
