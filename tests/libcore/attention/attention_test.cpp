// Properties that every variant of variants.def must have. Built in double.
#include "libcore/attention/attention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/tensor/context.hpp"
#include "libcore/tensor/pool.hpp"
#include "oracles.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index sample_count = 2, head_count = 3, sample_time = 11, sample_width = 4;
constexpr HeadShape head_shape{head_count, sample_width};

AttentionCall call(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {}) {
  return {.query = Variable(q), .key = Variable(k), .value = Variable(v), .mask = mask};
}

Tensor normal(std::uint64_t seed) {
  return normal_tensor({sample_count, head_count, sample_time, sample_width}, seed);
}

// A variant for the heads of a problem. Parameters that begin all alike are moved, so that every element counts.
Made made_for(const std::string& text, const AttentionSizes& s) {
  Made made(text, {s.heads, s.head_width, s.kv_heads, s.value_width});
  for (const Parameter& parameter : made.parameters.all()) {
    parameter.value().add(normal_tensor(parameter.value().shape(), 5, 0.3));
  }
  return made;
}

OracleProblem problem_of(const std::string& text, const AttentionCase& c, const Parameters& parameters) {
  return {.text = text, .sizes = c.sizes, .mask = c.mask, .parameters = values_of(parameters)};
}

// Oracle for q, k and v.
Oracle oracle_for(const OracleProblem& problem) {
  return [problem](const std::vector<std::vector<double>>& inputs) {
    OracleProblem full = problem;
    full.query = inputs[0];
    full.key = inputs[1];
    full.value = inputs[2];
    return mix(full);
  };
}

Operation operation_of(const Made& made, const Mask& mask, const Tensor& offset_bias = {}) {
  return [&made, mask, offset_bias](const std::vector<Variable>& in) {
    return made->mix(
        {.query = in[0], .key = in[1], .value = in[2], .mask = mask, .offsets = {.bias = Variable(offset_bias)}});
  };
}

// Calls body(text) for every setting that every variant is tested with.
template <class Body>
void for_each_text(const Body& body) {
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    body(text);
  }
}

}  // namespace

TEST_CASE("every variant: equals its equation in plain loops under every mask, and so do its gradients") {
  for_each_text([](const std::string& text) {
    for (const AttentionCase& c : attention_cases()) {
      CAPTURE(c.name);
      const Made made = made_for(text, c.sizes);
      if (!supports(made->support(), c)) continue;
      check_oracle(operation_of(made, c.mask), oracle_for(problem_of(text, c, made.parameters)), c.inputs());
    }
  });
}

TEST_CASE("every variant: the gradients of its parameters equal differences of its equation") {
  for_each_text([](const std::string& text) {
    for (const AttentionCase& c : attention_cases()) {
      CAPTURE(c.name);
      const Made made = made_for(text, c.sizes);
      if (!supports(made->support(), c)) continue;
      const std::vector<Tensor> in = c.inputs();
      Recording recording;
      const Variable y = made->mix(call(in[0], in[1], in[2], c.mask));
      const Tensor weights = sum_weights(y.shape());
      if (!made.parameters.all().empty()) recording.backward(weighted_sum(y));
      OracleProblem problem = problem_of(text, c, made.parameters);
      const Oracle oracle = [&](const auto& inputs) { return oracle_for(problem)(inputs); };
      for (const Parameter& parameter : made.parameters.all()) {
        CAPTURE(parameter.name);
        std::vector<double>& values = problem.parameters.at(parameter.name.substr(parameter.name.find('/') + 1));
        const std::vector<double> analytic = doubles(parameter.gradient());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto loss = [&](double change) {
            values[i] += change;
            const std::vector<double> out = oracle({doubles(in[0]), doubles(in[1]), doubles(in[2])});
            values[i] -= change;
            double sum = 0;
            for (std::size_t at = 0; at < out.size(); ++at) sum += out[at] * weights[static_cast<Index>(at)];
            return sum;
          };
          const double numeric = (loss(1e-5) - loss(-1e-5)) / 2e-5;
          CHECK(std::abs(analytic[i] - numeric) <= 1e-6 * (std::abs(analytic[i]) + std::abs(numeric)) + 1e-8);
        }
      }
    }
  });
}

TEST_CASE("every variant: gradients add up, reach through views and have the same bits on any number of threads") {
  for_each_text([](const std::string& text) {
    const AttentionCase c{"", {2, 4, 70, 70, 3, 2, 5}, {.causal = true, .key_lengths = {70, 45}}};
    AttentionCase shape = c;
    Made made = made_for(text, c.sizes);
    if (!made->support().grouped) {
      shape.sizes.kv_heads = shape.sizes.heads;
      made = made_for(text, shape.sizes);
    }
    if (supports(made->support(), shape)) check_operation(operation_of(made, shape.mask), shape.inputs());
  });
}

TEST_CASE("every variant that adds biases: scores with a bias by offset equal its equation") {
  for_each_text([](const std::string& text) {
    const AttentionCase c{"", {2, 2, 6, 6, 3}, {.causal = true, .query_offsets = {0, 0}}};
    const Made made = made_for(text, c.sizes);
    if (!made->support().bias) return;
    for (const Index table_heads : {1, 2}) {
      const Tensor table = normal_tensor({table_heads, 7}, 8);
      const Oracle oracle = [&](const std::vector<std::vector<double>>& in) {
        OracleProblem problem = problem_of(text, c, made.parameters);
        problem.bias = {.table_heads = table_heads, .reach = 3, .table = in[3]};
        return oracle_for(problem)(in);
      };
      const Operation operation = [&](const std::vector<Variable>& in) {
        return made->mix({.query = in[0], .key = in[1], .value = in[2], .mask = c.mask, .offsets = {.bias = in[3]}});
      };
      std::vector<Tensor> inputs = c.inputs();
      inputs.push_back(table);
      check_oracle(operation, oracle, inputs);
    }
  });
}

TEST_CASE("every variant: queries and keys in bfloat16 give, but for rounding, what the same numbers give as Reals") {
  for_each_text([](const std::string& text) {
    const AttentionCase c{"", {2, 2, 9, 9, 8}, {.causal = true}};
    const Made made = made_for(text, c.sizes);
    check_halves(operation_of(made, c.mask), c.inputs());
  });
}

TEST_CASE("every variant: a padded batch equals the shorter one") {
  for_each_text([](const std::string& text) {
    const Made made = made_for(text, {sample_count, head_count, sample_time, sample_time, sample_width});
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Index length = 7;
    const auto shorter = [&](const Tensor& t) { return t.narrowed(0, 1, 1).narrowed(2, 0, length); };
    for (const bool causal : {false, true}) {
      if (causal && !made->support().causal) continue;
      const Mask mask{.causal = causal, .key_lengths = {sample_time, length}};
      const Tensor padded = made->mix(call(q, k, v, mask)).value();
      const Tensor expected = made->mix(call(shorter(q), shorter(k), shorter(v), {.causal = causal})).value();
      CHECK(difference(padded.narrowed(0, 1, 1).narrowed(1, 0, length), expected) < 1e-12);
    }
  });
}

TEST_CASE("every variant: without a mask, reordered positions give reordered results") {
  for_each_text([](const std::string& text) {
    const Made made = made_for(text, {sample_count, head_count, sample_time, sample_time, sample_width});
    const auto reversed = [](const Tensor& x, int dimension) {
      const Tensor y(x.shape());
      const Index count = x.shape()[dimension];
      for (Index i = 0; i < count; ++i) y.narrowed(dimension, i, 1).assign(x.narrowed(dimension, count - 1 - i, 1));
      return y;
    };
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Tensor y = made->mix(call(q, k, v)).value();
    const Tensor turned = made->mix(call(reversed(q, 2), reversed(k, 2), reversed(v, 2))).value();
    CHECK(difference(reversed(turned, 1), y) < 1e-12);
    // Memory in another order changes nothing (SPEC 1.5).
    CHECK(difference(made->mix(call(q, reversed(k, 2), reversed(v, 2))).value(), y) < 1e-12);
  });
}

TEST_CASE("every variant: picked rows of keys are as if they stood there") {
  for_each_text([](const std::string& text) {
    const Made made = made_for(text, {sample_count, head_count, sample_time, sample_time, sample_width});
    if (!made->support().cross) return;
    const Tensor q = normal(1).narrowed(2, 0, 2), k = normal(2), v = normal(3);
    AttentionCall picked = call(q, k, v);
    picked.key_rows = {1, 1};
    picked.mask.key_lengths = {9, 9};
    const Tensor y = made->mix(picked).value();
    for (Index row = 0; row < sample_count; ++row) {
      const AttentionCall alone =
          call(q.narrowed(0, row, 1), k.narrowed(0, 1, 1), v.narrowed(0, 1, 1), {.key_lengths = {9}});
      CHECK(difference(y.narrowed(0, row, 1), made->mix(alone).value()) < 1e-12);
    }
  });
}

TEST_CASE("every variant: a later position changes nothing earlier under a causal mask") {
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made attention(text, head_shape);
    if (!attention->support().causal) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Mask mask{.causal = true};
    const Tensor before = attention->mix(call(q, k, v, mask)).value();
    for (const Tensor* changed : {&q, &k, &v}) changed->narrowed(2, 7, 1).fill(5);
    const Tensor after = attention->mix(call(q, k, v, mask)).value();
    CHECK(difference(before.narrowed(1, 0, 7), after.narrowed(1, 0, 7)) == 0);
    CHECK(difference(before.narrowed(1, 7, 4), after.narrowed(1, 7, 4)) > 1e-3);
  }
}

TEST_CASE("every variant: step by step equals the whole sequence, for any cut and for rows of different lengths") {
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made attention(text, head_shape);
    if (!attention->support().cached) continue;
    for (const auto& [window, dtype] : std::vector<std::pair<Index, DType>>{
             {0, DType::real}, {3, DType::real}, {0, DType::bfloat16}, {3, DType::bfloat16}}) {
      CAPTURE(window);
      // A state loses what its dtype cannot hold, and nothing else.
      if (window > 0 && !attention->support().window) continue;
      const Tensor q = normal(1), k = normal(2).as(dtype).as(DType::real), v = normal(3).as(dtype).as(DType::real);
      const Tensor whole = attention->mix(call(q, k, v, {.causal = true, .window = window})).value();
      const auto state = attention->start(sample_count, sample_time, dtype);
      // Row 0 reads 4 positions, then 1, then 6; row 1 reads 2, then 3, then 6.
      std::vector<Index> seen{0, 0};
      for (const auto& added : std::vector<std::vector<Index>>{{4, 2}, {1, 3}, {6, 6}}) {
        const Index most = std::max(added[0], added[1]);
        const auto cut = [&](const Tensor& t) {
          Tensor part({sample_count, head_count, most, sample_width}, 99);  // padding that must not matter
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
          CHECK(difference(y.narrowed(0, row, 1).narrowed(1, 0, added[b]),
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
    const Made attention(variant.name, head_shape);
    if (!attention->support().cached) continue;
    constexpr Index length = 2600;
    const auto row = [](std::uint64_t seed) { return normal_tensor({1, head_count, length, sample_width}, seed); };
    const Tensor q = row(1), k = row(2), v = row(3);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true})).value();
    const auto state = attention->start(1, Index{1} << 40, DType::real);
    Index seen = 0;
    for (const Index added : std::vector<Index>{1000, 24, 1, 1500, 75}) {
      const auto part = [&](const Tensor& t) { return t.narrowed(2, seen, added); };
      const Tensor y = attention->step(call(part(q), part(k), part(v)), {{seen}, {added}}, *state);
      CHECK(difference(y, whole.narrowed(1, seen, added)) < 1e-12);
      seen += added;
    }
  }
}

TEST_CASE("every variant: the memory of single steps grows in proportion to their number") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const Made attention(variant.name, head_shape);
    const Context own(1);
    const ContextScope scope(own);
    const auto state = attention->start(1, 2000, DType::real);
    const auto row = [](Index t) {
      return normal_tensor({1, head_count, 1, sample_width}, static_cast<std::uint64_t>(t));
    };
    Index seen = 0;
    const auto bytes_after = [&](Index steps) {
      for (; seen < steps; ++seen)
        attention->step(call(row(seen), row(seen + 1), row(seen + 2)), {{seen}, {1}}, *state);
      return static_cast<double>(pool().statistics().bytes_from_system);
    };
    const double after_half = bytes_after(750);
    CHECK(bytes_after(1500) < 3 * after_half);
  }
}

TEST_CASE("every variant: a reordered state goes on as the row it was") {
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made attention(text, head_shape);
    if (!attention->support().cached) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const auto state = attention->start(sample_count, sample_time, DType::real);
    const auto upto = [](const Tensor& t, Index begin, Index length) { return t.narrowed(2, begin, length); };
    attention->step(call(upto(q, 0, 6), upto(k, 0, 6), upto(v, 0, 6)), {{0, 0}, {6, 6}}, *state);
    state->reorder({1});
    const auto row = [&](const Tensor& t) { return t.narrowed(0, 1, 1).narrowed(2, 6, 1); };
    const Tensor y = attention->step(call(row(q), row(k), row(v)), {{6}, {1}}, *state);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true})).value();
    CHECK(difference(y, whole.narrowed(0, 1, 1).narrowed(1, 6, 1)) < 1e-12);
  }
}

TEST_CASE("every variant: rows of a state are dropped, swapped and multiplied, again and again") {
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made attention(text, head_shape);
    if (!attention->support().cached) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true})).value();
    const auto state = attention->start(sample_count, sample_time, DType::real);
    // Sequence of each row; the two have been read up to different positions.
    std::vector<Index> rows{0, 1}, next{4, 2};
    const auto step = [&](Index time) {
      const auto count = static_cast<Index>(rows.size());
      const auto picked = [&](const Tensor& t) {
        const Tensor part({count, head_count, time, sample_width});
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
        CHECK(difference(y.narrowed(0, static_cast<Index>(i), 1),
                         whole.narrowed(0, rows[i], 1).narrowed(1, position, 1)) < 1e-12);
      }
      ++next[0];
      ++next[1];
    }
  }
}

TEST_CASE("every variant: with a window, too, rows that are at different positions are reordered") {
  constexpr Index window = 2;
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made attention(text, head_shape);
    if (!attention->support().cached || !attention->support().window) continue;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Tensor whole = attention->mix(call(q, k, v, {.causal = true, .window = window})).value();
    const auto state = attention->start(sample_count, sample_time, DType::real);
    std::vector<Index> rows{0, 1}, seen{0, 0};  // sequence of each row, and the number of its tokens read so far
    const auto step = [&](const std::vector<Index>& added) {
      const auto count = static_cast<Index>(rows.size());
      const auto cut = [&](const Tensor& t) {
        const Tensor part({count, head_count, *std::ranges::max_element(added), sample_width}, 99);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          part.narrowed(0, static_cast<Index>(i), 1)
              .narrowed(2, 0, added[i])
              .assign(t.narrowed(0, rows[i], 1).narrowed(2, seen[i], added[i]));
        }
        return part;
      };
      const Tensor y = attention->step(call(cut(q), cut(k), cut(v), {.window = window}), {seen, added}, *state);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(difference(y.narrowed(0, static_cast<Index>(i), 1).narrowed(1, 0, added[i]),
                         whole.narrowed(0, rows[i], 1).narrowed(1, seen[i], added[i])) < 1e-12);
        seen[i] += added[i];
      }
    };
    step({6, 2});
    for (int i = 0; i < 3; ++i) step({1, 1});
    state->reorder({1, 0});
    rows = {1, 0};
    std::swap(seen[0], seen[1]);
    step({1, 1});
    state->reorder({1, 0, 0});
    rows = {0, 1, 1};
    seen = {seen[1], seen[0], seen[0]};
    step({1, 1, 1});
  }
}

TEST_CASE("every variant: its weights are those of its equation, mix the values, sum to one and hide the future") {
  for_each_text([](const std::string& text) {
    const AttentionCase c{"", {sample_count, head_count, sample_time, sample_time, sample_width}, {.causal = true}};
    const Made made = made_for(text, c.sizes);
    if (!made->support().weights) return;
    const Tensor q = normal(1), k = normal(2), v = normal(3);
    const Tensor weights = made->weights(call(q, k, v, c.mask)).weights, y = made->mix(call(q, k, v, c.mask)).value();
    OracleProblem problem = problem_of(text, c, made.parameters);
    problem.query = doubles(q);
    problem.key = doubles(k);
    const VariantOracle& oracle = oracle_of(Settings(text).name());
    for (Index b = 0; b < sample_count * head_count; ++b) {
      for (Index i = 0; i < sample_time; ++i) {
        const Real* row = weights.data() + (b * sample_time + i) * sample_time;
        const std::vector<double> expected = oracle.weights(problem, b / head_count, b % head_count, i);
        const double sum = std::accumulate(row, row + sample_time, 0.0);
        CHECK(sum <= 1 + 1e-12);
        CHECK(sum >= oracle.least_sum - 1e-12);
        CHECK(std::all_of(row + i + 1, row + sample_time, [](Real w) { return w == 0; }));
        double mixed = 0;
        for (Index j = 0; j < sample_time; ++j) {
          CHECK(row[j] == doctest::Approx(expected[static_cast<std::size_t>(j)]).epsilon(1e-9));
          mixed += row[j] * v[(b * sample_time + j) * sample_width];
        }
        CHECK(y[((b / head_count * sample_time + i) * head_count + b % head_count) * sample_width] ==
              doctest::Approx(mixed).epsilon(1e-9));
      }
    }
  });
}

TEST_CASE("every variant: its scores are the products that it gives, where it gives any") {
  int with_products = 0;
  for_each_text([&](const std::string& text) {
    const Made made = made_for(text, {sample_count, head_count, sample_time, sample_time, sample_width});
    if (!made->support().weights) return;
    const PairWeights pairs = made->weights(call(normal(1), normal(2), normal(3), {}));
    const std::string name = Settings(text).name();
    CHECK(pairs.query.empty() == (name == "additive" || name == "fourier"));
    CHECK(pairs.query.empty() == pairs.key.empty());
    if (pairs.query.empty() || name == "performer") return;  // these are estimates
    ++with_products;
    const Index wide = pairs.query.shape()[3];
    const auto query = doubles(pairs.query), key = doubles(pairs.key);
    for (Index row = 0; row < sample_count * head_count * sample_time; ++row) {
      const auto score = [&](Index j) {
        double sum = 0;
        for (Index a = 0; a < wide; ++a) {
          sum += query[static_cast<std::size_t>(row * wide + a)] *
                 key[static_cast<std::size_t>((row / sample_time * sample_time + j) * wide + a)];
        }
        return static_cast<double>(pairs.scale) * sum;
      };
      const Real* const w = pairs.weights.data() + row * sample_time;
      for (Index j = 1; j < sample_time; ++j) {
        CHECK(std::log(w[j]) - std::log(w[0]) == doctest::Approx(score(j) - score(0)).epsilon(1e-9));
      }
    }
  });
  CHECK(with_products > 4);
}

TEST_CASE("every variant: what it does not support is refused, with the reason") {
  CHECK_THROWS_WITH_AS(check_support("fast:x=1", {.causal = true}, {.causal = true, .grouped = true}),
                       "fast:x=1 needs as many key heads as heads", UsageError);
  check_support("fast", {.causal = true, .grouped = true}, {.grouped = true});
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made attention(text, head_shape);
    const AttentionSupport has = attention->support();
    if (!has.cached) CHECK_THROWS_AS(attention->start(1, 4, DType::real), Error);
    if (!has.weights) CHECK_THROWS_AS(attention->weights(call(normal(1), normal(2), normal(3))), Error);
  }
}

TEST_CASE("names and settings: unknown ones are refused by name") {
  std::vector<std::string> names;
  for (const AttentionVariant& variant : attention_variants()) names.push_back(variant.name);
  CHECK_THROWS_WITH_AS(Made("dots", {1, 4}), ("'dots' is not one of " + join(names) + "; did you mean 'dot'?").c_str(),
                       UsageError);
  CHECK_THROWS_WITH_AS(Made("dot:features=3", {1, 4}), "dot has no setting 'features'; it has scale", UsageError);
  CHECK_THROWS_AS(Made("dot:features", {1, 4}), UsageError);
  Settings settings("performer:features=256,scale=0.5");
  CHECK(settings.name() == "performer");
  CHECK(settings.number("features", 1) == 256);
  CHECK(settings.index({"depth", "number of layers", "as many as heads"}, 7, 1, 9) == 7);
  CHECK(settings.known()[1].text == "number of layers (default as many as heads)");
  CHECK_THROWS_WITH_AS(settings.refuse_others(), "performer has no setting 'scale'; it has features, depth",
                       UsageError);
  CHECK_THROWS_AS(Settings("a:b=x").number("b", 0), UsageError);
  CHECK_THROWS_WITH_AS(Settings("a:b=11").index("b", 0, 0, 10), "a:b=11 must be from 0 to 10", UsageError);
  CHECK_THROWS_WITH_AS(Settings("a:b=1.5").index("b", 0, 0, 10), "a:b=1.5 is not a whole number", UsageError);
  Settings words("a:kind=second");
  CHECK(words.word({"kind", "which one"}, "first", {"first", "second"}) == "second");
  CHECK(words.word("other", "x", {"x", "y"}) == "x");
  CHECK(words.known()[0].text == "which one: first, second (default first)");
  CHECK_THROWS_WITH_AS(Settings("a:kind=secnd").word("kind", "first", {"first", "second"}),
                       "a:kind: 'secnd' is not one of first, second; did you mean 'second'?", UsageError);
}

TEST_CASE("every variant: help explains all of its settings") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    CHECK(!variant.summary.empty());
    for (const SettingHelp& setting : variant.settings) {
      CAPTURE(setting.key);
      CHECK(setting.text.find("(default ") > 1);  // something before it
    }
  }
}
