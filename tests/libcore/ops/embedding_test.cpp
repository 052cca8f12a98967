#include "libcore/ops/embedding.hpp"

#include <doctest/doctest.h>

#include "libcore/ops/linear.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

TokenIds random_ids(const Shape& shape, Index vocab) {
  TokenIds ids(shape);
  const RandomStream stream(1, random_site("ids"));
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    ids.ids[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(vocab)));
  }
  return ids;
}

}  // namespace

TEST_CASE("embed: gradients and oracle, with repeated ids") {
  struct Case {
    Shape ids;
    Index vocab, width;
  };
  // The last ones: more ids than one task takes, then more columns.
  for (const Case& c : {Case{{1}, 1, 1}, {{7}, 3, 5}, {{2, 5}, 11, 4}, {{3, 70}, 6, 3}, {{2, 9}, 5, 150}}) {
    CAPTURE(c.ids);
    const TokenIds ids = random_ids(c.ids, c.vocab);
    const auto width = static_cast<std::size_t>(c.width);
    const Operation operation = [&](const auto& in) { return ops::embed(ids, in[0]); };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y;
      for (const TokenId id : ids.ids) {
        for (std::size_t i = 0; i < width; ++i) y.push_back(in[0][static_cast<std::size_t>(id) * width + i]);
      }
      return y;
    };
    const Tensor table = normal_tensor({c.vocab, c.width}, 2);
    check_operation(operation, {table});
    check_oracle(operation, oracle, {table});
    CHECK(ops::embed(ids, Variable(table)).shape() == c.ids.with_last(c.width));
  }
}

TEST_CASE("embed: a row's gradient is the sum over its uses, and zero without any") {
  const Variable table = leaf(normal_tensor({4, 2}, 1));
  Recording recording;
  const Variable y = ops::embed(TokenIds({3}, {2, 0, 2}), table);
  recording.backward(weighted_sum(y, Tensor({3, 2}, {1, 2, 3, 4, 10, 20})));
  CHECK(table.gradient()->tensor().elements() == std::vector<Real>{3, 4, 0, 0, 11, 22, 0, 0});
}

TEST_CASE("embed: tied to the output layer, the table's gradient is the sum of both uses") {
  const TokenIds ids = random_ids({2, 6}, 9);
  const Tensor table = normal_tensor({9, 5}, 1);
  const Operation untied = [&](const auto& in) { return ops::linear(ops::embed(ids, in[0]), in[1]); };
  const Operation tied = [&](const auto& in) { return untied({in[0], in[0]}); };
  const Differentiated apart = differentiate(untied, {table, table});
  const Tensor sum = apart.gradients[0].copy();
  sum.add(apart.gradients[1]);
  CHECK(relative_difference(differentiate(tied, {table}).gradients[0], sum) < by_precision(1e-14, 1e-6));
  check_operation(tied, {table});
}

TEST_CASE("embed: ids outside the table are refused") {
  const Variable table(Tensor({4, 2}, 1));
  CHECK_THROWS_AS(ops::embed(TokenIds({2}, {0, 4}), table), DataError);
  CHECK_THROWS_AS(ops::embed(TokenIds({2}, {-1, 0}), table), DataError);
  CHECK_THROWS_AS(ops::embed(TokenIds({1}, {0}), Variable(Tensor({4}, 1))), ShapeError);
}
