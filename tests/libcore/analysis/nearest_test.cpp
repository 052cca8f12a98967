#include "libcore/analysis/nearest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/analysis/samples.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace {

double cosine(const Real* a, const Real* b, Index width) {
  double ab = 0, aa = 0, bb = 0;
  for (Index j = 0; j < width; ++j) {
    ab += static_cast<double>(a[j]) * static_cast<double>(b[j]);
    aa += static_cast<double>(a[j]) * static_cast<double>(a[j]);
    bb += static_cast<double>(b[j]) * static_cast<double>(b[j]);
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace

TEST_CASE("nearest: as comparing with every vector tells") {
  const Tensor vectors = random_tensor({40, 7}, 1), queries = random_tensor({300, 7}, 2);
  const auto found = NearestVectors(vectors).find(queries, 5);
  REQUIRE(found.size() == 300);
  for (std::size_t q = 0; q < found.size(); ++q) {
    std::vector<double> all;
    for (Index i = 0; i < 40; ++i) {
      all.push_back(cosine(queries.data() + static_cast<Index>(q) * 7, vectors.data() + i * 7, 7));
    }
    REQUIRE(found[q].size() == 5);
    for (const Neighbour& neighbour : found[q]) {
      CHECK(neighbour.similarity == doctest::Approx(all[static_cast<std::size_t>(neighbour.row)]).epsilon(1e-5));
    }
    std::ranges::sort(all, std::greater());
    for (std::size_t k = 0; k < 5; ++k) CHECK(found[q][k].similarity == doctest::Approx(all[k]).epsilon(1e-5));
  }
}

TEST_CASE(
    "nearest: equals come in the order of their rows, vectors of nothing are like none, and all is all there is") {
  const Tensor vectors({4, 2}, std::vector<Real>{0, 0, 1, 2, 2, 4, -1, -2});
  const auto found = NearestVectors(vectors).find(Tensor({2, 2}, std::vector<Real>{3, 6, 0, 0}), 9);
  REQUIRE(found[0].size() == 4);
  CHECK(found[0][0].row == 1);
  CHECK(found[0][1].row == 2);
  CHECK(found[0][2].row == 0);
  CHECK(found[0][3].row == 3);
  for (const Neighbour& neighbour : found[1]) CHECK(neighbour.similarity == 0);
  CHECK_THROWS_AS(NearestVectors(Tensor({0, 2})), ShapeError);
  CHECK_THROWS_AS(NearestVectors(vectors).find(Tensor({1, 3}, Real(0)), 1), ShapeError);
}

TEST_CASE("nearest: vectors that are not finite are refused") {
  const Tensor good({2, 2}, std::vector<Real>{1, 2, 3, 4});
  for (const Real value : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
    const Tensor bad({2, 2}, std::vector<Real>{1, 2, 3, value});
    CHECK_THROWS_AS(NearestVectors{bad}, NumericError);
    CHECK_THROWS_AS(NearestVectors(good).find(bad, 1), NumericError);
  }
}
