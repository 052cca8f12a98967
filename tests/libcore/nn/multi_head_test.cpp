// Multi-head attention as a module: attention without projections, and what the heads cannot see (SPEC 1.1, 1.3, 1.6).
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/nn/multi_head_attention.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index multi_head_width = 12;

nn::AttentionOptions options_of(const std::string& variant, HeadShape shape) {
  return {.variant = variant, .width = multi_head_width, .shape = shape, .stddev = 0.4, .output_stddev = 0.4};
}

struct SelfLayer {
  SelfLayer(const nn::AttentionOptions& options, const std::string& scheme = "none")
      : positions(make_positions(scheme, Scope(parameters, "position"), {64, multi_head_width, 3, 4, 0.5})),
        attention(Scope(parameters, "a"), Scope(parameters, ""), with(options)) {}
  Tensor run(const Tensor& x, const Mask& mask = {}) const {
    return attention(positions->embed(Variable(x), {}), mask).value();
  }
  nn::AttentionOptions with(nn::AttentionOptions options) const {
    options.positions = positions.get();
    return options;
  }
  Parameters parameters{ParameterSource(3)};
  std::shared_ptr<const Positions> positions;
  nn::SelfAttention attention;
};

// w [out, in] x of every row of x [time, in].
std::vector<double> projected(const Parameters& parameters, const std::string& name, const Tensor& x) {
  const Tensor& w = parameters.find(name)->value();
  const Index out = w.shape()[0], in = w.shape()[1];
  std::vector<double> y;
  for (Index t = 0; t < x.size() / in; ++t) {
    for (Index o = 0; o < out; ++o) {
      double sum = 0;
      for (Index i = 0; i < in; ++i) sum += w[o * in + i] * x[t * in + i];
      y.push_back(sum);
    }
  }
  return y;
}

}  // namespace

TEST_CASE("attention without projections has no parameters and mixes the columns of each head (SPEC 1.1)") {
  const SelfLayer layer(options_of("basic", {3, 4}));
  CHECK(layer.parameters.all().empty());
  const Tensor x = normal_tensor({2, 7, multi_head_width}, 1), y = layer.run(x, {.causal = true});
  const SelfLayer single(options_of("basic", {1, multi_head_width}));
  CHECK(difference(layer.run(x.narrowed(1, 0, 1).copy()), x.narrowed(1, 0, 1)) == 0);
  // Head 1 is attention of one head over columns 4 to 7.
  Parameters none(ParameterSource(1));
  const nn::SelfAttention small(Scope(none, "a"), Scope(none, ""), {.variant = "basic", .width = 4, .shape = {1, 4}});
  const Tensor part = small(Variable(x.narrowed(2, 4, 4).copy()), {.causal = true}).value();
  CHECK(difference(part, y.narrowed(2, 4, 4)) < 1e-12);
  CHECK(difference(single.run(x, {.causal = true}), y) > 1e-3);
  // A residual is added; gradients reach x through query, key and value.
  const Tensor added = layer.attention(Variable(x), {.causal = true}, Variable(x)).value();
  const Tensor sum = y.copy();
  sum.add(x);
  CHECK(difference(added, sum) < 1e-12);
  check_operation([&](const auto& in) { return layer.attention(in[0], {.causal = true}); },
                  {normal_tensor({2, 5, multi_head_width}, 2)});
}

TEST_CASE("attention without projections: at single positions, over another sequence, and in steps") {
  const SelfLayer layer(options_of("basic", {3, 4}));
  const Tensor x = normal_tensor({2, 7, multi_head_width}, 1), whole = layer.run(x);
  const Tensor some = layer.attention(Variable(x), {}, {}, {}, {5, 2}).value();
  CHECK(difference(some.narrowed(0, 0, 1), whole.narrowed(0, 0, 1).narrowed(1, 5, 1)) < 1e-12);
  Parameters none(ParameterSource(1));
  const nn::CrossAttention cross(Scope(none, "c"), Scope(none, ""), options_of("basic", {3, 4}));
  CHECK(none.all().empty());
  CHECK(difference(cross(Variable(x), cross.remember(Variable(x), {})).value(), whole) < 1e-12);
  const auto state = layer.attention.start(2, 7, DType::real);
  const Tensor causal = layer.run(x, {.causal = true});
  for (Index t = 0; t < 7; ++t) {
    const Variable one(x.narrowed(1, t, 1).copy());
    const Tensor y = layer.attention.step(one, {{t, t}, {1, 1}}, 0, *state, {}).value();
    CHECK(difference(y, causal.narrowed(1, t, 1)) < 1e-12);
  }
}

TEST_CASE("attention without projections: heads must be parts of the states") {
  CHECK_THROWS_WITH_AS(SelfLayer(options_of("basic", {3, 8})),
                       "without projections, 3 heads of width 8 must be the whole width 12", UsageError);
  CHECK_THROWS_WITH_AS(SelfLayer(options_of("basic", {3, 4, 1})), "basic needs as many key heads as heads", UsageError);
}

namespace {

Index count(const Parameters& parameters, const std::string& part) {
  Index sum = 0;
  for (const Parameter& parameter : parameters.all()) {
    if (parameter.name.find(part) != std::string::npos) sum += parameter.size();
  }
  return sum;
}

}  // namespace

TEST_CASE("projections: the counts of standard, narrow and wide heads for width 256 and 8 heads (SPEC 1.3)") {
  const auto counted = [](Projections kind, HeadShape shape) {
    const Simulation nothing_is_computed;
    Parameters parameters{ParameterSource::unset()};
    const nn::SelfAttention attention(Scope(parameters, "a"), Scope(parameters, ""),
                                      {.width = 256, .shape = shape, .projections = kind, .bias = nn::Bias::no});
    const Index output = count(parameters, "output");
    return std::pair(parameters.count() - output, output);
  };
  CHECK(counted(Projections::standard, {8, 32}) == std::pair<Index, Index>(196608, 65536));
  CHECK(counted(Projections::narrow, {8, 32}) == std::pair<Index, Index>(24576, 65536));
  CHECK(counted(Projections::standard, {8, 256}) == std::pair<Index, Index>(1572864, 524288));
}

TEST_CASE("projections: standard with block-diagonal matrices is narrow (SPEC 1.3)") {
  nn::AttentionOptions options = options_of("dot", {3, 4});
  options.bias = nn::Bias::no;
  const SelfLayer standard(options);
  options.projections = Projections::narrow;
  const SelfLayer narrow(options);
  for (const std::string name : {"a/query/weight", "a/key/weight", "a/value/weight"}) {
    const Tensor &blocks = narrow.parameters.find(name)->value(), &whole = standard.parameters.find(name)->value();
    REQUIRE(blocks.shape() == Shape{3, 4, 4});
    whole.fill(0);
    for (Index i = 0; i < blocks.size(); ++i) {
      const Index head = i / 16, in = i / 4 % 4, out = i % 4;
      whole[(head * 4 + out) * multi_head_width + head * 4 + in] = blocks[i];
    }
  }
  narrow.parameters.find("a/output/weight")->value().assign(standard.parameters.find("a/output/weight")->value());
  const Tensor x = normal_tensor({2, 7, multi_head_width}, 1);
  CHECK(difference(narrow.run(x), standard.run(x)) < 1e-12);
  CHECK(difference(narrow.run(x, {.causal = true}), standard.run(x, {.causal = true})) < 1e-12);
}

TEST_CASE("projections: gradients, single positions and steps of each kind, with and without an output matrix") {
  for (const auto& [kind, name] : Names<Projections>::list) {
    for (const bool output : {true, false}) {
      CAPTURE(name);
      CAPTURE(output);
      nn::AttentionOptions options = options_of("dot", {3, 4});
      options.projections = kind;
      options.output = output;
      const SelfLayer layer(options);
      CHECK((layer.parameters.find("a/output/weight") != nullptr) == output);
      const Tensor x = normal_tensor({2, 7, multi_head_width}, 1);
      check_operation([&](const auto& in) { return layer.attention(in[0], {.causal = true}, in[1]); },
                      {x, normal_tensor({2, 7, multi_head_width}, 2)});
      const Tensor whole = layer.run(x, {.causal = true});
      const Tensor some = layer.attention(Variable(x), {.causal = true}, {}, {}, {6, 2}).value();
      CHECK(difference(some.narrowed(0, 0, 1), whole.narrowed(0, 0, 1).narrowed(1, 6, 1)) < 1e-12);
      CHECK(difference(some.narrowed(0, 1, 1), whole.narrowed(0, 1, 1).narrowed(1, 2, 1)) < 1e-12);
    }
  }
  nn::AttentionOptions options = options_of("dot", {3, 8});
  options.output = false;
  CHECK_THROWS_WITH_AS(SelfLayer{options},
                       "without an output projection, 3 heads of width 8 must be the whole width 12", UsageError);
  options = options_of("dot", {4, 3, 2});
  options.projections = Projections::narrow;
  CHECK_THROWS_WITH_AS(SelfLayer{options}, "narrow projections need a key head for each of the 4 heads", UsageError);
}

TEST_CASE("heads: without positions, exchanging two tokens leaves the others as they are (SPEC 1.3)") {
  // Mary gave roses to Susan; with Mary and Susan exchanged.
  const Tensor x = normal_tensor({1, 5, multi_head_width}, 1), swapped = x.copy();
  swapped.narrowed(1, 0, 1).assign(x.narrowed(1, 4, 1));
  swapped.narrowed(1, 4, 1).assign(x.narrowed(1, 0, 1));
  const auto moved = [&](const HeadShape& shape, const std::string& scheme) {
    const SelfLayer layer(options_of("dot", shape), scheme);
    return difference(layer.run(x).narrowed(1, 1, 1), layer.run(swapped).narrowed(1, 1, 1));
  };
  CHECK(moved({1, 12}, "none") < 1e-12);
  CHECK(moved({3, 4}, "none") < 1e-12);
  CHECK(moved({3, 4}, "learned") > 1e-3);
  CHECK(moved({3, 4}, "sinusoidal") > 1e-3);
  CHECK(moved({3, 4}, "rope") > 1e-3);
}

TEST_CASE("heads: the column form Y = W_V X softmax(X^T A X / sqrt(d_h)), A = W_K^T W_Q, is the same (SPEC 1.6)") {
  constexpr Index time = 6, head = 4;
  nn::AttentionOptions options = options_of("dot", {1, head});
  options.bias = nn::Bias::no;
  const SelfLayer layer(options);
  const Tensor x = normal_tensor({1, time, multi_head_width}, 1);
  const Tensor& query = layer.parameters.find("a/query/weight")->value();
  const Tensor& key = layer.parameters.find("a/key/weight")->value();
  // A, of which column c of X is asked by x_c: the scores of column c are X^T A x_c.
  std::vector<double> matrix(multi_head_width * multi_head_width, 0.0);
  for (Index i = 0; i < multi_head_width; ++i) {
    for (Index j = 0; j < multi_head_width; ++j) {
      for (Index h = 0; h < head; ++h) {
        matrix[static_cast<std::size_t>(i * multi_head_width + j)] +=
            key[h * multi_head_width + i] * query[h * multi_head_width + j];
      }
    }
  }
  const std::vector<double> values = projected(layer.parameters, "a/value/weight", x);
  const Tensor mixed({time, head});
  for (Index c = 0; c < time; ++c) {
    std::vector<double> powers;
    double sum = 0;
    for (Index s = 0; s < time; ++s) {
      double score = 0;
      for (Index i = 0; i < multi_head_width; ++i) {
        for (Index j = 0; j < multi_head_width; ++j) {
          score += x[s * multi_head_width + i] * matrix[static_cast<std::size_t>(i * multi_head_width + j)] *
                   x[c * multi_head_width + j];
        }
      }
      powers.push_back(std::exp(score / std::sqrt(static_cast<double>(head))));
      sum += powers.back();
    }
    for (Index h = 0; h < head; ++h) {
      double y = 0;
      for (Index s = 0; s < time; ++s) {
        y += powers[static_cast<std::size_t>(s)] / sum * values[static_cast<std::size_t>(s * head + h)];
      }
      mixed[c * head + h] = static_cast<Real>(y);
    }
  }
  const std::vector<double> expected = projected(layer.parameters, "a/output/weight", mixed);
  const Tensor y({1, time, multi_head_width}, std::vector<Real>(expected.begin(), expected.end()));
  CHECK(difference(layer.run(x), y) < 1e-12);
}
