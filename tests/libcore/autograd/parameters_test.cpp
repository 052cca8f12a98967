#include "libcore/autograd/parameters.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "support/on_threads.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

std::vector<std::string> names(const Parameters& parameters) {
  std::vector<std::string> result;
  for (const Parameter& parameter : parameters.all()) result.push_back(parameter.name);
  return result;
}

struct Moments {
  double mean = 0, stddev = 0, largest = 0;
};
Moments moments(const Tensor& tensor) {
  Moments m;
  const auto count = static_cast<double>(tensor.size());
  for (const double x : doubles(tensor)) {
    m.mean += x / count;
    m.stddev += x * x / count;
    m.largest = std::max(m.largest, std::abs(x));
  }
  m.stddev = std::sqrt(m.stddev - m.mean * m.mean);
  return m;
}

}  // namespace

TEST_CASE("parameters: names are paths, in the order of declaration") {
  Parameters parameters(1);
  const Scope root(parameters, ""), layer = root / "decoder" / 3;
  root.parameter("scale", {1}, Initializer::ones(), Decay::no);
  layer.stacked({"query/weight", "key/weight"}, {2, 3}, Initializer::normal(1), Decay::yes);
  layer.parameter("norm/gain", {3}, Initializer::ones(), Decay::no);
  CHECK(layer.path() == "decoder/3");
  CHECK(names(parameters) ==
        std::vector<std::string>{"scale", "decoder/3/query/weight", "decoder/3/key/weight", "decoder/3/norm/gain"});
  CHECK(parameters.count() == 1 + 6 + 6 + 3);
  REQUIRE(parameters.find("decoder/3/key/weight") != nullptr);
  CHECK(parameters.find("decoder/3/key/weight")->value().shape() == Shape{2, 3});
  CHECK(parameters.find("decoder/3/key/weight")->decay == Decay::yes);
  CHECK(parameters.find("scale")->decay == Decay::no);
  CHECK(parameters.find("decoder/3/value/weight") == nullptr);
}

TEST_CASE("parameters: a name can be declared once") {
  Parameters parameters(1);
  const Scope scope(parameters, "layer");
  scope.parameter("weight", {1}, Initializer::zeros(), Decay::no);
  CHECK_THROWS_WITH_AS(scope.parameter("weight", {1}, Initializer::zeros(), Decay::no),
                       "parameter layer/weight is declared twice", Error);
  CHECK_THROWS_AS(scope.stacked({"other", "weight"}, {1}, Initializer::zeros(), Decay::no), Error);
}

TEST_CASE("parameters: initial values depend on seed and name alone") {
  const auto draw = [](std::uint64_t seed, bool with_another, int threads) {
    const testing::OnThreads these(threads);
    Parameters parameters(seed);
    const Scope scope(parameters, "");
    if (with_another) scope.parameter("another", {5}, Initializer::normal(1), Decay::no);
    scope.parameter("weight", {100, 301}, Initializer::normal(1), Decay::no);
    return parameters.find("weight")->value().elements();
  };
  const std::vector<Real> expected = draw(1, false, 1);
  CHECK(draw(1, true, 1) == expected);
  CHECK(draw(1, false, 3) == expected);
  CHECK(draw(2, false, 1) != expected);
  // Each element is drawn for itself, whichever task draws it: 8,192 by each.
  CHECK(std::set<Real>(expected.begin(), expected.end()).size() > expected.size() - 100);

  Parameters layers(1);
  for (const Index layer : {0, 1}) {
    (Scope(layers, "") / layer).parameter("weight", {4}, Initializer::normal(1), Decay::no);
  }
  CHECK(layers.find("0/weight")->value().elements() != layers.find("1/weight")->value().elements());

  Parameters alone(1), together(1);
  Scope(alone, "a").parameter("key", {3, 5}, Initializer::uniform(1), Decay::no);
  Scope(together, "a").stacked({"query", "key"}, {3, 5}, Initializer::uniform(1), Decay::no);
  CHECK(together.find("a/key")->value().elements() == alone.find("a/key")->value().elements());
  CHECK(together.find("a/query")->value().elements() != alone.find("a/key")->value().elements());
}

TEST_CASE("parameters: values may be given, of any dtype, one tensor for what is stacked") {
  std::vector<std::string> asked;
  const Tensor given = Tensor({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).as(DType::bfloat16);
  Parameters parameters(ParameterSource::given([&](const Declaration& declaration) {
    asked.insert(asked.end(), declaration.names.begin(), declaration.names.end());
    CHECK(declaration.stacked_shape() == Shape{6, 2});
    return given;
  }));
  const Scope scope(parameters, "layer");
  const Variable whole = scope.stacked({"query", "key", "value"}, {2, 2}, Initializer::zeros(), Decay::yes);
  CHECK(asked == std::vector<std::string>{"layer/query", "layer/key", "layer/value"});
  CHECK(whole.value().raw() == given.raw());
  const Tensor key = parameters.find("layer/key")->value();
  CHECK(key.dtype() == DType::bfloat16);
  CHECK(key.elements() == std::vector<Real>{5, 6, 7, 8});
  Parameters wrong(ParameterSource::given([&](const Declaration&) { return given; }));
  CHECK_THROWS_WITH_AS(Scope(wrong, "").parameter("bias", {6}, Initializer::zeros(), Decay::no),
                       "parameter bias: a tensor of shape [6, 2] is given for [6]", ShapeError);
}

TEST_CASE("parameters: unset ones have memory that can be written to") {
  Parameters parameters(ParameterSource::unset());
  Scope(parameters, "").stacked({"a", "b"}, {2, 2}, Initializer::ones(), Decay::yes);
  parameters.find("b")->value().fill(3);
  CHECK(parameters.find("b")->value().elements() == std::vector<Real>(4, 3));
}

TEST_CASE("parameters: initializers give the distributions they promise") {
  Parameters parameters(1);
  const Scope scope(parameters, "");
  const auto declared = [&](const char* name, const Initializer& initializer) {
    return moments(scope.parameter(name, {200, 201}, initializer, Decay::no).value());
  };
  const Moments normal = declared("normal", Initializer::normal(0.02));
  CHECK(std::abs(normal.mean) < 5 * 0.02 / 200);
  CHECK(std::abs(normal.stddev / 0.02 - 1) < 0.02);
  CHECK(normal.largest > 3.5 * 0.02);
  CHECK(normal.largest < 6 * 0.02);
  const Moments uniform = declared("uniform", Initializer::uniform(0.5));
  CHECK(std::abs(uniform.mean) < 5 * 0.5 / 200);
  CHECK(std::abs(uniform.stddev / (0.5 / std::sqrt(3.0)) - 1) < 0.02);
  CHECK(uniform.largest <= 0.5);
  CHECK(declared("ones", Initializer::ones()).mean == doctest::Approx(1));
  CHECK(declared("zeros", Initializer::zeros()).largest == 0);
}

TEST_CASE("parameters: orthogonal matrices have orthonormal columns, or rows where these are fewer") {
  for (const Shape& shape : {Shape{40, 40}, Shape{40, 7}, Shape{7, 40}}) {
    CAPTURE(shape);
    Parameters parameters(1);
    const Tensor q = Scope(parameters, "").parameter("q", shape, Initializer::orthogonal(), Decay::yes).value();
    const Index rows = shape[0], columns = shape[1], count = std::min(rows, columns), length = std::max(rows, columns);
    const auto element = [&](Index vector, Index k) {
      return static_cast<double>(rows > columns ? q[k * columns + vector] : q[vector * columns + k]);
    };
    for (Index a = 0; a < count; ++a) {
      for (Index b = 0; b <= a; ++b) {
        double dot = 0;
        for (Index k = 0; k < length; ++k) dot += element(a, k) * element(b, k);
        CHECK(dot == doctest::Approx(a == b ? 1 : 0).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("parameters: parts of a matrix have initial values of their own") {
  Parameters parameters(1);
  const Scope scope(parameters, "");
  const Initializer orthogonal = Initializer::orthogonal();
  const Tensor whole =
      scope
          .parameter("gates", {12, 4}, Initializer::in_parts({orthogonal, Initializer::constant(3), orthogonal}),
                     Decay::yes)
          .value();
  const auto part = [&](Index i) { return whole.narrowed(0, 4 * i, 4).elements(); };
  CHECK(part(1) == std::vector<Real>(16, 3));
  CHECK(part(0) != part(2));
  for (const Index i : {0, 2}) {
    double squares = 0;
    for (const Real x : part(i)) squares += static_cast<double>(x) * static_cast<double>(x);
    CHECK(squares == doctest::Approx(4));
  }
}

TEST_CASE("parameters: stacked parameters share storage and gradient with the whole") {
  Parameters parameters(1);
  const Variable whole = Scope(parameters, "").stacked({"a", "b", "c"}, {2, 2}, Initializer::normal(1), Decay::yes);
  CHECK(whole.shape() == Shape{6, 2});
  const Parameter& b = *parameters.find("b");
  CHECK(b.value().data() == whole.value().data() + 4);
  b.value().fill(7);
  CHECK(whole.value()[4] == 7);
  {
    Recording recording;
    const Tensor weights({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    recording.backward(weighted_sum(whole, weights));
  }
  CHECK(b.gradient().elements() == std::vector<Real>{5, 6, 7, 8});
  {
    Recording recording;
    recording.backward(weighted_sum(b.variable, Tensor({2, 2}, 100)));
  }
  CHECK(b.gradient().elements() == std::vector<Real>{105, 106, 107, 108});
  CHECK(parameters.find("c")->gradient().elements() == std::vector<Real>{9, 10, 11, 12});
  b.gradient().fill(0);
  CHECK(whole.gradient()->tensor()[4] == 0);
}

TEST_CASE("parameters: gradients are zero where nothing flowed, and are cleared together") {
  Parameters parameters(1);
  const Scope scope(parameters, "");
  const Variable used = scope.parameter("used", {2}, Initializer::ones(), Decay::no);
  scope.parameter("unused", {3}, Initializer::ones(), Decay::no);
  scope.stacked({"left", "right"}, {1}, Initializer::ones(), Decay::no);
  for (int step = 0; step < 3; ++step) {
    parameters.clear_gradients();
    Recording recording;
    recording.backward(weighted_sum(used, Tensor({2}, {1, 2})));
    CHECK(parameters.find("used")->gradient().elements() == std::vector<Real>{1, 2});
    CHECK(parameters.find("unused")->gradient().elements() == std::vector<Real>{0, 0, 0});
    CHECK(parameters.find("right")->gradient().elements() == std::vector<Real>{0});
  }
  parameters.clear_gradients();
  CHECK(parameters.find("used")->gradient().elements() == std::vector<Real>{0, 0});
}

TEST_CASE("parameters: a source hands settings of any type on to where modules are built") {
  struct Shade {
    int depth;
  };
  const ParameterSource plain(1);
  Parameters without(plain),
      with(plain.with_settings(Shade{3}).with_settings(std::string("other")).with_settings(Shade{4}));
  CHECK(Scope(without, "x").settings<Shade>() == nullptr);
  REQUIRE(Scope(with, "x").settings<Shade>() != nullptr);
  CHECK(Scope(with, "x").settings<Shade>()->depth == 4);
  CHECK(*(Scope(with, "x") / "y").settings<std::string>() == "other");
  CHECK(plain.settings<Shade>() == nullptr);
}
