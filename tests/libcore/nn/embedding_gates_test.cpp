// Gates on vectors of tokens. Built in double.
#include "libcore/nn/embedding_gates.hpp"

#include <doctest/doctest.h>

#include "libcore/nn/embedding.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace embedding_gates_tests {

namespace {

const TokenIds gated_ids(Shape{2, 3}, {4, 0, 2, 2, 2, 1});

Operation gated_by(const nn::GateBaseline& baseline, const std::optional<Tensor>& fixed_table) {
  return [=](const std::vector<Variable>& in) {
    const nn::GateBaseline own = baseline;
    nn::EmbeddingGates gates(gated_ids, in[0], own);
    return nn::Embedding(fixed_table ? Variable(*fixed_table) : in[1])(gated_ids);
  };
}

}  // namespace

TEST_CASE("embedding gates: values and gradients, of the gates and of the table") {
  const Tensor gates = normal_tensor({6}, 1), table = normal_tensor({5, 4}, 2);
  check_operation(gated_by(nn::GateBaseline::zero(), std::nullopt), {gates, table});
  check_operation(gated_by(nn::GateBaseline::mean(), table), {gates});
  check_operation(gated_by(nn::GateBaseline::of_token(3), table), {gates});
  const auto expected = [&](const std::vector<double>& baseline) {
    return [&table, baseline](const auto& in) {
      std::vector<double> y;
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          const double vector = table[gated_ids.ids[i] * 4 + static_cast<Index>(j)];
          y.push_back(baseline[j] + in[0][i] * (vector - baseline[j]));
        }
      }
      return y;
    };
  };
  std::vector<double> mean(4, 0), third;
  for (Index i = 0; i < table.size(); ++i) mean[static_cast<std::size_t>(i % 4)] += table[i] / 5;
  for (Index j = 0; j < 4; ++j) third.push_back(table[12 + j]);
  check_oracle(gated_by(nn::GateBaseline::mean(), table), expected(mean), {gates});
  check_oracle(gated_by(nn::GateBaseline::of_token(3), table), expected(third), {gates});
}

TEST_CASE("embedding gates: the mean of a table is that of all its rows, however many") {
  for (const Index rows : {5, 1023, 1024, 1025, 2600}) {
    CAPTURE(rows);
    const Tensor table({rows, 2});
    for (Index row = 0; row < rows; ++row) table[2 * row] = static_cast<Real>(row), table[2 * row + 1] = -1;
    const Tensor closed = gated_by(nn::GateBaseline::mean(), table)({Variable(Tensor({6}, 0))}).value();
    for (Index i = 0; i < 6; ++i) {
      CHECK(closed[2 * i] == doctest::Approx(static_cast<double>(rows - 1) / 2));
      CHECK(closed[2 * i + 1] == doctest::Approx(-1));
    }
  }
}

TEST_CASE("embedding gates: other lookups stay as they are, and gates do not nest") {
  const Variable gates(normal_tensor({6}, 1)), table(normal_tensor({5, 4}, 2));
  const nn::GateBaseline mean = nn::GateBaseline::mean();
  const TokenIds others(Shape{3}, {1, 2, 3});
  const Tensor plain = nn::Embedding(table)(others).value();
  nn::EmbeddingGates open(gated_ids, gates, mean);
  const Tensor beside = nn::Embedding(table)(others).value();
  for (Index i = 0; i < plain.size(); ++i) CHECK(beside[i] == plain[i]);
  CHECK_FALSE(open.was_used());
  CHECK_THROWS_AS(nn::EmbeddingGates(gated_ids, gates, mean), ShapeError);
  CHECK_THROWS_AS(nn::EmbeddingGates(others, gates, mean), ShapeError);
}

}  // namespace embedding_gates_tests
