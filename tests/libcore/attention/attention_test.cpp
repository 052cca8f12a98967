// Properties that every variant of variants.def must have. Built in double.
#include "heddle/attention/attention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/tensors.hpp"

using namespace heddle;

namespace {

constexpr Index batch = 2, heads = 3, time_steps = 11, width = 4;

// A variant with whatever parameters it has.
struct Made {
  explicit Made(const std::string& text, HeadShape shape = {heads, width})
      : attention(make_attention(text, {Scope(parameters, "layer"), Scope(parameters, "stack")}, shape)) {}
  const Attention* operator->() const { return attention.get(); }
  Parameters parameters{ParameterSource(7)};
  std::unique_ptr<const Attention> attention;
};

AttentionCall call(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {}) {
  return {Variable(q), Variable(k), Variable(v), mask};
}

Tensor normal(std::uint64_t seed) {
  return testing::normal_tensor({batch, heads, time_steps, width}, seed);
}

}  // namespace

TEST_CASE("every variant: a later position changes nothing earlier under a causal mask") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    if (!attention->support().causal) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Mask mask{.causal = true};
    const Tensor before = attention->mix(call(q, k, v, mask)).value();
    for (const Tensor* changed : {&q, &k, &v}) changed->narrowed(2, 7, 1).fill(5);
    const Tensor after = attention->mix(call(q, k, v, mask)).value();
    CHECK(testing::difference(before.narrowed(1, 0, 7), after.narrowed(1, 0, 7)) == 0);
    CHECK(testing::difference(before.narrowed(1, 7, 4), after.narrowed(1, 7, 4)) > 1e-3);
  }
}

TEST_CASE("every variant: step by step equals the whole sequence, for any cut and for rows of different lengths") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    if (!attention->support().cached) continue;
    for (const auto& [window, dtype] : std::vector<std::pair<Index, DType>>{
             {0, DType::real}, {3, DType::real}, {0, DType::bfloat16}, {3, DType::bfloat16}}) {
      CAPTURE(window);
      // A state loses what its dtype cannot hold, and nothing else.
      const Tensor q = normal(1), k = normal(2).as(dtype).as(DType::real), v = normal(3).as(dtype).as(DType::real);
      const Tensor whole = attention->mix(call(q, k, v, {.causal = true, .window = window})).value();
      const auto state = attention->start(batch, time_steps, dtype);
      // Row 0 reads 4 positions, then 1, then 6; row 1 reads 2, then 3, then 6.
      std::vector<Index> seen{0, 0};
      for (const auto& added : std::vector<std::vector<Index>>{{4, 2}, {1, 3}, {6, 6}}) {
        const Index most = std::max(added[0], added[1]);
        const auto cut = [&](const Tensor& t) {
          Tensor part({batch, heads, most, width}, 99);  // padding that must not matter
          for (std::size_t b = 0; b < 2; ++b) {
            part.narrowed(0, static_cast<Index>(b), 1)
                .narrowed(2, 0, added[b])
                .assign(t.narrowed(0, static_cast<Index>(b), 1).narrowed(2, seen[b], added[b]));
          }
          return part;
        };
        const Tensor y = attention->step(call(cut(q), cut(k), cut(v), {.window = window}), {seen, added}, *state);
        for (std::size_t b = 0; b < 2; ++b) {
          const auto row = static_cast<Index>(b);
          CHECK(testing::difference(y.narrowed(0, row, 1).narrowed(1, 0, added[b]),
                                    whole.narrowed(0, row, 1).narrowed(1, seen[b], added[b])) < 1e-12);
          seen[b] += added[b];
        }
      }
    }
  }
}

TEST_CASE("every variant: a state for more positions than there is memory for grows as it is used") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    if (!attention->support().cached) continue;
    constexpr Index length = 2600;
    const auto row = [](std::uint64_t seed) { return testing::normal_tensor({1, heads, length, width}, seed); };
    const Tensor q = row(1), k = row(2), v = row(3);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true})).value();
    const auto state = attention->start(1, Index{1} << 40, DType::real);
    Index seen = 0;
    for (const Index added : std::vector<Index>{1000, 24, 1, 1500, 75}) {
      const auto part = [&](const Tensor& t) { return t.narrowed(2, seen, added); };
      const Tensor y = attention->step(call(part(q), part(k), part(v)), {{seen}, {added}}, *state);
      CHECK(testing::difference(y, whole.narrowed(1, seen, added)) < 1e-12);
      seen += added;
    }
  }
}

TEST_CASE("every variant: a reordered state goes on as the row it was") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    if (!attention->support().cached) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const auto state = attention->start(batch, time_steps, DType::real);
    const auto upto = [](const Tensor& t, Index begin, Index length) { return t.narrowed(2, begin, length); };
    attention->step(call(upto(q, 0, 6), upto(k, 0, 6), upto(v, 0, 6)), {{0, 0}, {6, 6}}, *state);
    state->reorder({1});
    const auto row = [&](const Tensor& t) { return t.narrowed(0, 1, 1).narrowed(2, 6, 1); };
    const Tensor y = attention->step(call(row(q), row(k), row(v)), {{6}, {1}}, *state);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true})).value();
    CHECK(testing::difference(y, whole.narrowed(0, 1, 1).narrowed(1, 6, 1)) < 1e-12);
  }
}

TEST_CASE("every variant: rows of a state are dropped, swapped and multiplied, again and again") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    if (!attention->support().cached) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true})).value();
    const auto state = attention->start(batch, time_steps, DType::real);
    // Which sequence each row is; both have been read up to another position.
    std::vector<Index> rows{0, 1}, next{5, 3};
    const auto step = [&](Index time) {
      const auto count = static_cast<Index>(rows.size());
      const auto picked = [&](const Tensor& t) {
        const Tensor part({count, heads, time, width});
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const Index begin = time == 1 ? next[static_cast<std::size_t>(rows[i])] : 0;
          part.narrowed(0, static_cast<Index>(i), 1).assign(t.narrowed(0, rows[i], 1).narrowed(2, begin, time));
        }
        return part;
      };
      std::vector<Index> seen, added;
      for (const Index row : rows) {
        const Index position = next[static_cast<std::size_t>(row)];
        seen.push_back(time == 1 ? position : 0);
        added.push_back(time == 1 ? 1 : position);
      }
      return attention->step(call(picked(q), picked(k), picked(v)), {seen, added}, *state);
    };
    step(5);
    for (const std::vector<Index>& order :
         std::vector<std::vector<Index>>{{1, 0}, {1, 0, 1, 1, 0}, {4, 4, 2, 0, 1}, {3, 1}, {0, 0}, {1}, {0, 0, 0}}) {
      std::vector<Index> reordered;
      for (const Index row : order) reordered.push_back(rows[static_cast<std::size_t>(row)]);
      rows = reordered;
      state->reorder(order);
      const Tensor y = step(1);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Index position = next[static_cast<std::size_t>(rows[i])];
        CHECK(testing::difference(y.narrowed(0, static_cast<Index>(i), 1),
                                  whole.narrowed(0, rows[i], 1).narrowed(1, position, 1)) < 1e-12);
      }
      if (next[0] + 1 < time_steps) ++next[0];
      if (next[1] + 1 < time_steps) ++next[1];
    }
  }
}

TEST_CASE("every variant: its weights mix the values, sum to one and keep the future hidden") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    if (!attention->support().weights) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const AttentionCall causal = call(q, k, v, {.causal = true});
    const Tensor weights = attention->weights(causal), y = attention->mix(causal).value();
    for (Index b = 0; b < batch * heads; ++b) {
      for (Index i = 0; i < time_steps; ++i) {
        const Real* row = weights.data() + (b * time_steps + i) * time_steps;
        CHECK(std::accumulate(row, row + time_steps, 0.0) == doctest::Approx(1).epsilon(1e-12));
        CHECK(std::all_of(row + i + 1, row + time_steps, [](Real w) { return w == 0; }));
        double mixed = 0;
        for (Index j = 0; j < time_steps; ++j) mixed += row[j] * v[(b * time_steps + j) * width];
        CHECK(y[((b / heads * time_steps + i) * heads + b % heads) * width] == doctest::Approx(mixed).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("every variant: what it does not support is refused, with the reason") {
  CHECK_THROWS_WITH_AS(check_support("fast:x=1", {.causal = true}, {.causal = true, .grouped = true}),
                       "fast:x=1 needs as many key heads as heads", UsageError);
  check_support("fast", {.causal = true, .grouped = true}, {.grouped = true});
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name);
    const AttentionSupport has = attention->support();
    if (!has.cached) CHECK_THROWS_AS(attention->start(1, 4, DType::real), Error);
    if (!has.weights) CHECK_THROWS_AS(attention->weights(call(normal(1), normal(2), normal(3))), Error);
  }
}

TEST_CASE("dot: the factor of the scores is 1 / sqrt(key_width), or the one that is given") {
  const Tensor q = normal(1), k = normal(2), v = normal(3), twice = normal(1);
  twice.scale(2);
  const Tensor usual = Made("dot")->mix(call(twice, k, v)).value();
  CHECK(testing::difference(Made("dot:scale=1")->mix(call(q, k, v)).value(), usual) < 1e-12);  // the key width is 4
  CHECK(testing::difference(Made("dot:scale=0.5")->mix(call(twice, k, v)).value(), usual) < 1e-12);
  const Tensor uniform = Made("dot:scale=0")->weights(call(q, k, v));
  for (Index i = 0; i < uniform.size(); ++i) CHECK(uniform[i] == doctest::Approx(1.0 / time_steps));
  CHECK_THROWS_WITH_AS(Made("dot:scale=-1"), "dot:scale=-1 must be from 0 to 1000", UsageError);
}

TEST_CASE("names and settings: unknown ones are refused by name") {
  CHECK_THROWS_WITH_AS(Made("dots", {1, 4}), "'dots' is not one of dot; did you mean 'dot'?", UsageError);
  CHECK_THROWS_WITH_AS(Made("dot:features=3", {1, 4}), "dot has no setting 'features'; it has scale", UsageError);
  CHECK_THROWS_AS(Made("dot:features", {1, 4}), UsageError);
  Settings settings("performer:features=256,scale=0.5");
  CHECK(settings.name() == "performer");
  CHECK(settings.number("features", 1) == 256);
  CHECK(settings.index("depth", 7, 1, 9) == 7);
  CHECK_THROWS_WITH_AS(settings.refuse_others(), "performer has no setting 'scale'; it has features, depth",
                       UsageError);
  CHECK_THROWS_AS(Settings("a:b=x").number("b", 0), UsageError);
  CHECK_THROWS_WITH_AS(Settings("a:b=11").index("b", 0, 0, 10), "a:b=11 must be from 0 to 10", UsageError);
  CHECK_THROWS_WITH_AS(Settings("a:b=1.5").index("b", 0, 0, 10), "a:b=1.5 is not a whole number", UsageError);
}
