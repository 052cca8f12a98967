// Effects of position schemes, compared with their formulas (SPEC 2.1 to 2.7) and, in a walk over the list, with the
// weights of attention.
#include "libcore/analysis/position_shapes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numbers>

using namespace heddle;
using namespace heddle::analysis;

namespace {

constexpr double rounding = 1e-5;

// A scheme alone, with its parameters at their start.
struct SchemeAlone {
  SchemeAlone(const std::string& text, Index width, Index heads, bool causal, Index positions)
      : scheme(make_positions(text, Scope(parameters, "position"),
                              {context_of(text, std::nullopt, positions), width, heads, width / heads, 0.5, causal})),
        layer(scheme->for_layer(Scope(parameters, "0"))),
        in{scheme.get(), layer.get(), width, HeadShape{heads, width / heads}, causal} {}

  Parameters parameters{ParameterSource(3)};
  std::shared_ptr<const Positions> scheme;
  std::shared_ptr<const AttentionPositions> layer;
  PositionsInLayer in;
};

PositionVectors position_vectors_of(const std::string& text, Index width, Index positions, Index heads = 1) {
  const SchemeAlone alone(text, width, heads, false, positions);
  const auto vectors = position_vectors(alone.in, positions);
  REQUIRE(vectors.has_value());
  return *vectors;
}

}  // namespace

TEST_CASE("position shapes: the heat map of sinusoids has their values") {
  const auto vectors = position_vectors_of("sinusoidal", 128, 50);
  CHECK(vectors.of == PositionVectors::Of::embeddings);
  CHECK(vectors.table.rows == 50);
  CHECK(vectors.table.columns == 128);
  for (const Index position : {0, 1, 17, 49}) {
    for (const Index pair : {0, 1, 31, 63}) {
      const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * static_cast<double>(pair) / 128);
      CHECK(vectors.table.at(position, 2 * pair) == doctest::Approx(std::sin(angle)).epsilon(rounding));
      CHECK(vectors.table.at(position, 2 * pair + 1) == doctest::Approx(std::cos(angle)).epsilon(rounding));
    }
  }
  CHECK(vectors.table.at(0, 0) == 0);
  CHECK(vectors.table.at(1, 0) == doctest::Approx(0.8414709848).epsilon(rounding));  // sin 1
  CHECK(vectors.table.largest() == 1);
}

TEST_CASE("position shapes: pairs of sinusoids are on circles of radius 1, each with its frequency") {
  for (const auto& [text, half_apart] : {std::pair<std::string, bool>{"sinusoidal", false},
                                         {"sinusoidal:interleaved=0", true},
                                         {"sinusoidal:form=t2t", true},
                                         {"sinusoidal:form=deck0", false}}) {
    CAPTURE(text);
    const auto vectors = position_vectors_of(text, 32, 40);
    REQUIRE(vectors.circles.size() == 16);
    for (Index k = 0; k < 16; ++k) {
      const Circle& circle = vectors.circles[static_cast<std::size_t>(k)];
      CHECK(circle.first == (half_apart ? k : 2 * k));
      CHECK(circle.second == (half_apart ? k + 16 : 2 * k + 1));
      CHECK(circle.radius == doctest::Approx(1).epsilon(rounding));
      const auto pair = static_cast<double>(k);
      const double frequency = text.ends_with("t2t")     ? std::pow(10000.0, -pair / 15)
                               : text.ends_with("deck0") ? std::pow(10.0, -10 * (pair + 1) / 32)
                                                         : std::pow(10000.0, -2 * pair / 32);
      CHECK(circle.radians_per_position == doctest::Approx(-frequency).epsilon(1e-3));  // (sin, cos) turns clockwise
    }
  }
}

TEST_CASE("position shapes: products of sinusoids depend on the distance alone: the sum of cos(w_k distance)") {
  const auto vectors = position_vectors_of("sinusoidal", 16, 30);
  const Similarity dots = similarity_of(vectors.table, SimilarityMeasure::dot);
  const Similarity cosines = similarity_of(vectors.table, SimilarityMeasure::cosine);
  for (std::size_t distance = 0; distance < 30; ++distance) {
    double sum = 0;
    for (int pair = 0; pair < 8; ++pair)
      sum += std::cos(static_cast<double>(distance) * std::pow(10000.0, -pair / 8.0));
    CAPTURE(distance);
    CHECK(std::abs(dots.mean[distance] - sum) < 1e-5);
    CHECK(std::abs(cosines.mean[distance] - sum / 8) < 1e-5);
    CHECK(dots.most[distance] - dots.least[distance] < 1e-5);
  }
  CHECK(dots.all.at(3, 11) == dots.all.at(11, 3));
  CHECK(dots.all.at(3, 11) == doctest::Approx(dots.mean[8]).epsilon(1e-4));
}

TEST_CASE("position shapes: similarity of vectors by hand") {
  Grid vectors(3, 2);
  vectors.values = {3, 4, 0, 0, -4, 3};
  const Similarity dots = similarity_of(vectors, SimilarityMeasure::dot);
  CHECK(dots.all.values == std::vector<double>{25, 0, 0, 0, 0, 0, 0, 0, 25});
  CHECK(dots.least[0] == 0);
  CHECK(dots.most[0] == 25);
  CHECK(dots.mean[0] == doctest::Approx(50.0 / 3));
  const Similarity cosines = similarity_of(vectors, SimilarityMeasure::cosine);
  CHECK(cosines.all.values == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 1});  // 0 for a vector of nothing
}

TEST_CASE("position shapes: learned vectors are the table, from the row of its first position, and no circles") {
  const SchemeAlone alone("learned:offset=2", 6, 1, true, 5);
  const auto vectors = position_vectors(alone.in, 5);
  REQUIRE(vectors.has_value());
  CHECK(vectors->circles.empty());
  const Tensor& table = alone.parameters.all().front().value();
  for (Index position = 0; position < 5; ++position) {
    for (Index i = 0; i < 6; ++i) {
      CHECK(vectors->table.at(position, i) == static_cast<double>(table[(position + 2) * 6 + i]));
    }
  }
}

TEST_CASE("position shapes: rope turns pairs of a query's elements, and its score falls as the mean of cosines") {
  for (const std::string text : {"rope", "rope:interleaved=1"}) {
    CAPTURE(text);
    const bool interleaved = text != "rope";
    const auto vectors = position_vectors_of(text, 32, 20, 2);
    CHECK(vectors.of == PositionVectors::Of::queries);
    CHECK(vectors.table.columns == 16);
    REQUIRE(vectors.circles.size() == 8);
    for (Index k = 0; k < 8; ++k) {
      const Circle& circle = vectors.circles[static_cast<std::size_t>(k)];
      const double frequency = std::pow(10000.0, -static_cast<double>(k) / 8);
      CHECK(circle.first == (interleaved ? 2 * k : k));
      CHECK(circle.second == (interleaved ? 2 * k + 1 : k + 8));
      CHECK(circle.radius == doctest::Approx(1).epsilon(rounding));
      CHECK(circle.radians_per_position == doctest::Approx(frequency).epsilon(1e-3));
      CHECK(vectors.table.at(7, circle.first) == doctest::Approx(std::cos(7 * frequency)).epsilon(1e-4));
      CHECK(vectors.table.at(7, circle.second) == doctest::Approx(std::sin(7 * frequency)).epsilon(1e-4));
    }
    const SchemeAlone alone(text, 32, 2, false, 20);
    const OffsetBias bias = bias_by_offset(alone.in, 20);
    CHECK(bias.first == -19);
    for (Index offset = -19; offset <= 19; ++offset) {
      double sum = 0;  // of a score that is 1 without positions
      for (int k = 0; k < 8; ++k) sum += std::cos(static_cast<double>(offset) * std::pow(10000.0, -k / 8.0)) / 8;
      CHECK(std::abs(bias.heads.at(1, offset + 19) - (sum - 1)) < 1e-5);
    }
  }
}

TEST_CASE("position shapes: ALiBi's bias is -2^(-8 h / H) times the distance") {
  const SchemeAlone alone("alibi", 64, 8, true, 10);
  CHECK_FALSE(position_vectors(alone.in, 10).has_value());
  const OffsetBias bias = bias_by_offset(alone.in, 10);
  CHECK(bias.first == -9);
  CHECK(bias.heads.rows == 8);
  CHECK(bias.heads.columns == 10);
  for (Index h = 0; h < 8; ++h) {
    for (Index offset = -9; offset <= 0; ++offset) {
      const double wanted = std::exp2(-static_cast<double>(h + 1)) * static_cast<double>(offset);
      CHECK(bias.heads.at(h, offset + 9) == wanted);
    }
  }
}

TEST_CASE("position shapes: T5's buckets, one number for each of them") {
  const SchemeAlone alone("relative-scalar", 8, 2, true, 140);
  const Tensor& table = alone.parameters.all().front().value();  // [32, 2]
  const OffsetBias bias = bias_by_offset(alone.in, 140);
  // The first distance of each bucket of a causal stack: 0 to 15 alone, then (SPEC 2.4).
  const std::vector<Index> firsts{16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  for (Index distance = 0; distance < 140; ++distance) {
    Index bucket = std::min<Index>(distance, 15);
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (distance >= firsts[i]) bucket = 16 + static_cast<Index>(i);
    }
    CAPTURE(distance);
    for (Index h = 0; h < 2; ++h) {
      CHECK(bias.heads.at(h, 139 - distance) == static_cast<double>(table[bucket * 2 + h]));
    }
  }
}

TEST_CASE("position shapes: linear biases of both kinds, and no positions, which add nothing") {
  const SchemeAlone is_signed("linear:distance=signed,start=-0.5", 8, 2, false, 4);
  const OffsetBias one_sided = bias_by_offset(is_signed.in, 4);
  CHECK(one_sided.heads.columns == 7);
  for (Index offset = -3; offset <= 3; ++offset) {
    CHECK(one_sided.heads.at(0, offset + 3) == 0.5 * static_cast<double>(offset));
  }
  const SchemeAlone is_absolute("linear:start=-0.5", 8, 2, false, 4);
  for (Index offset = -3; offset <= 3; ++offset) {
    CHECK(bias_by_offset(is_absolute.in, 4).heads.at(1, offset + 3) == -0.5 * std::abs(static_cast<double>(offset)));
  }
  const SchemeAlone none("none", 8, 2, true, 4);
  CHECK_FALSE(position_vectors(none.in, 4).has_value());
  CHECK(bias_by_offset(none.in, 4).heads.largest() == 0);
}

TEST_CASE("position shapes: circles are all pairs or none") {
  const auto turning = [](double bent) {
    Grid table(12, 4);
    for (Index t = 0; t < 12; ++t) {
      for (Index k = 0; k < 2; ++k) {
        const double angle = static_cast<double>(t) * (k == 0 ? 0.5 : 0.1), radius = k == 1 && t == 5 ? bent : 2;
        table.at(t, 2 * k) = radius * std::cos(angle);
        table.at(t, 2 * k + 1) = radius * std::sin(angle);
      }
    }
    return table;
  };
  const auto circles = circles_of(turning(2));
  REQUIRE(circles.size() == 2);
  CHECK(circles[1].radius == doctest::Approx(2));
  CHECK(circles[1].radians_per_position == doctest::Approx(0.1));
  CHECK(circles_of(turning(2.01)).empty());
  CHECK(circles_of(Grid(12, 4)).empty());
  CHECK(circles_of(Grid(2, 4)).empty());
}

// Softmax of scores that differ by what the shapes say: whatever a scheme is.
TEST_CASE("position shapes: every scheme's bias is that of the weights of dot-product attention") {
  constexpr Index positions = 12;
  for (const PositionScheme& scheme : position_schemes()) {
    for (const bool causal : {false, true}) {
      CAPTURE(scheme.name);
      CAPTURE(causal);
      const SchemeAlone alone(scheme.name, 24, 3, causal, positions);
      const OffsetBias bias = bias_by_offset(alone.in, positions);
      Parameters parameters(ParameterSource(1));
      const auto dot = make_attention("dot", {Scope(parameters, ""), Scope(parameters, "")}, alone.in.heads);
      const Index keys = bias.heads.columns;
      const auto element = static_cast<Real>(std::pow(8.0, -0.25));
      AttentionCall call{.query = Variable(Tensor({1, 3, 1, 8}, element)),
                         .key = Variable(Tensor({1, 3, keys, 8}, element)),
                         .value = Variable(Tensor({1, 3, keys, 8}, Real(0))),
                         .mask = {.causal = causal, .query_offsets = {positions - 1}}};
      if (alone.layer != nullptr) {
        const auto at = alone.layer->apply(call.query, call.key, {call.mask.query_offsets, {}, positions});
        call.query = at.query;
        call.key = at.key;
        call.offsets = at.offsets;
      }
      const Tensor weights = dot->weights(call).weights;
      for (Index h = 0; h < 3; ++h) {
        for (Index j = 0; j < keys; ++j) {
          const double difference = bias.heads.at(h, j) - bias.heads.at(h, positions - 1);
          const double ratio =
              static_cast<double>(weights[h * keys + j]) / static_cast<double>(weights[h * keys + positions - 1]);
          CHECK(std::abs(std::log(ratio) - difference) < 1e-4);
        }
      }
    }
  }
}
