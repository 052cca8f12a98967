// Recurrent cells, over whole sequences and step by step (SPEC 5.2, 5.3).
#include "libcore/ops/recurrent.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "libcore/ops/concatenate.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

using Numbers = std::vector<double>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The equations of the cells, one number after another.
// The part of a product with U that belongs to some rows.
using Multiply = std::function<Numbers(const Numbers& x, std::size_t begin, std::size_t end)>;
using NaiveCell =
    std::function<void(const Numbers& a, const Multiply& multiply, const Numbers& bias, Numbers& h, Numbers& c)>;
const std::map<std::string, NaiveCell> naive_cells{
    {"tanh",
     [](const Numbers& a, const Multiply& multiply, const Numbers&, Numbers& h, Numbers&) {
       const Numbers u = multiply(h, 0, h.size());
       for (std::size_t k = 0; k < h.size(); ++k) h[k] = std::tanh(a[k] + u[k]);
     }},
    {"gru",
     [](const Numbers& a, const Multiply& multiply, const Numbers& bias, Numbers& h, Numbers&) {
       const std::size_t n = h.size();
       const Numbers u = multiply(h, 0, 3 * n);
       for (std::size_t k = 0; k < n; ++k) {
         const double r = sigmoid(a[k] + u[k]), z = sigmoid(a[n + k] + u[n + k]);
         h[k] = (1 - z) * std::tanh(a[2 * n + k] + r * (u[2 * n + k] + bias[k])) + z * h[k];
       }
     }},
    {"cho",
     [](const Numbers& a, const Multiply& multiply, const Numbers&, Numbers& h, Numbers&) {
       const std::size_t n = h.size();
       const Numbers u = multiply(h, 0, 2 * n);
       Numbers reset(n);
       for (std::size_t k = 0; k < n; ++k) reset[k] = sigmoid(a[k] + u[k]) * h[k];
       const Numbers of_reset = multiply(reset, 2 * n, 3 * n);
       for (std::size_t k = 0; k < n; ++k) {
         const double z = sigmoid(a[n + k] + u[n + k]);
         h[k] = z * h[k] + (1 - z) * std::tanh(a[2 * n + k] + of_reset[k]);
       }
     }},
    {"lstm",
     [](const Numbers& a, const Multiply& multiply, const Numbers&, Numbers& h, Numbers& c) {
       const std::size_t n = h.size();
       const Numbers u = multiply(h, 0, 4 * n);
       for (std::size_t k = 0; k < n; ++k) {
         const auto gate = [&](std::size_t part) { return a[part * n + k] + u[part * n + k]; };
         c[k] = sigmoid(gate(1)) * c[k] + sigmoid(gate(0)) * std::tanh(gate(2));
         h[k] = sigmoid(gate(3)) * std::tanh(c[k]);
       }
     }},
};

constexpr Index cell_batch = 3, cell_times = 8, cell_width = 5;
const std::vector<Index> some_lengths{8, 3, 1};

struct RecurrentCase {
  std::string name;
  std::vector<Index> lengths;
  bool reverse, starts;
};
const std::vector<RecurrentCase> recurrent_cases{{"forward", {}, false, false},
                                                 {"forward from a state", {}, false, true},
                                                 {"of several lengths", some_lengths, false, true},
                                                 {"reverse", {}, true, false},
                                                 {"reverse, of several lengths", some_lengths, true, true}};

// Operands of an operation: input, weight, bias and start, in double and as variables.
std::vector<Tensor> inputs_of(const ops::Cell& cell, bool starts) {
  std::vector<Tensor> inputs{normal_tensor({cell_batch, cell_times, cell.gates * cell_width}, 1),
                             normal_tensor({cell.gates * cell_width, cell_width}, 2), normal_tensor({cell_width}, 3)};
  for (Index part = 0; starts && part < cell.states; ++part) {
    inputs.push_back(normal_tensor({cell_batch, cell_width}, 4 + static_cast<std::uint64_t>(part)));
  }
  return inputs;
}

ops::RecurrentResult run(const ops::Cell& cell, const RecurrentCase& one, const std::vector<Variable>& inputs) {
  return ops::recurrent(cell, inputs[0], {inputs[1], cell.recurrent_bias ? inputs[2] : Variable()},
                        {one.lengths, one.reverse, {inputs.begin() + 3, inputs.end()}});
}

// Row after row and time after time: hidden states, then the parts of the last state.
Numbers naive_recurrent(const ops::Cell& cell, const RecurrentCase& one, const std::vector<Numbers>& inputs) {
  const auto n = static_cast<std::size_t>(cell_width), gates = static_cast<std::size_t>(cell.gates) * n;
  Numbers hidden(static_cast<std::size_t>(cell_batch * cell_times) * n, 0), last[2];
  for (std::size_t row = 0; row < cell_batch; ++row) {
    const auto length = static_cast<std::size_t>(one.lengths.empty() ? cell_times : one.lengths[row]);
    Numbers h(n, 0), c(n, 0);
    for (std::size_t part = 3; part < inputs.size(); ++part) {
      Numbers& state = part == 3 ? h : c;
      for (std::size_t k = 0; k < n; ++k) state[k] = inputs[part][row * n + k];
    }
    for (std::size_t step = 0; step < length; ++step) {
      const std::size_t at = row * cell_times + (one.reverse ? length - 1 - step : step);
      const Numbers a(inputs[0].begin() + static_cast<std::ptrdiff_t>(at * gates),
                      inputs[0].begin() + static_cast<std::ptrdiff_t>((at + 1) * gates));
      const Multiply multiply = [&](const Numbers& x, std::size_t begin, std::size_t end) {
        Numbers product(end - begin, 0);
        for (std::size_t i = begin; i < end; ++i) {
          for (std::size_t k = 0; k < n; ++k) product[i - begin] += inputs[1][i * n + k] * x[k];
        }
        return product;
      };
      naive_cells.at(std::string(cell.name))(a, multiply, inputs[2], h, c);
      std::copy(h.begin(), h.end(), hidden.begin() + static_cast<std::ptrdiff_t>(at * n));
    }
    last[0].insert(last[0].end(), h.begin(), h.end());
    last[1].insert(last[1].end(), c.begin(), c.end());
  }
  for (Index part = 0; part < cell.states; ++part) hidden.insert(hidden.end(), last[part].begin(), last[part].end());
  return hidden;
}

Variable all_of(const ops::RecurrentResult& result) {
  std::vector<Variable> parts{view(result.hidden, [](const Tensor& t) {
    return t.reshaped({cell_batch * cell_times, cell_width});
  })};
  parts.insert(parts.end(), result.last.begin(), result.last.end());
  return ops::concatenate(parts, 0);
}

}  // namespace

TEST_CASE("recurrent: every cell has a plain loop here to be compared with") {
  CHECK(naive_cells.size() == ops::cells().size());
  CHECK_THROWS_WITH_AS(ops::cell("grue"), "cell 'grue' is not one of tanh, gru, cho, lstm; did you mean 'gru'?",
                       UsageError);
}

TEST_CASE("recurrent: states and gradients are those of plain loops, in both directions and of any lengths") {
  for (const ops::Cell& cell : ops::cells()) {
    for (const RecurrentCase& one : recurrent_cases) {
      CAPTURE(std::string(cell.name));
      CAPTURE(one.name);
      check_oracle([&](const std::vector<Variable>& inputs) { return all_of(run(cell, one, inputs)); },
                   [&](const std::vector<Numbers>& inputs) { return naive_recurrent(cell, one, inputs); },
                   inputs_of(cell, one.starts));
    }
  }
}

TEST_CASE("recurrent: gradients accumulate, reach through views and do not depend on the number of threads") {
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    const RecurrentCase one{"", {}, false, true};
    std::vector<Tensor> inputs = inputs_of(cell, true);
    if (!cell.recurrent_bias) inputs[2] = Tensor({cell_width}, Real(0));
    check_operation(
        [&](const std::vector<Variable>& given) {
          const ops::RecurrentResult result =
              ops::recurrent(cell, given[0], {given[1], cell.recurrent_bias ? given[2] : Variable()},
                             {some_lengths, true, {given.begin() + 3, given.end()}});
          return all_of(result);
        },
        inputs);
  }
}

TEST_CASE("recurrent: batches of several tasks have the same bits on any number of threads") {
  constexpr Index rows = 35, narrow = 4;
  std::vector<Index> lengths;
  for (Index row = 0; row < rows; ++row) lengths.push_back(1 + row % 3);
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    check_operation(
        [&](const std::vector<Variable>& given) {
          return ops::recurrent(cell, given[0], {given[1]}, {.lengths = lengths}).hidden;
        },
        {normal_tensor({rows, 3, cell.gates * narrow}, 1), normal_tensor({cell.gates * narrow, narrow}, 2)});
  }
}

TEST_CASE("recurrent: a matrix stored with fewer bits gives what its numbers give") {
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    const Variable input(normal_tensor({cell_batch, cell_times, cell.gates * cell_width}, 1));
    const Tensor numbers = normal_tensor({cell.gates * cell_width, cell_width}, 2);
    Tensor bytes(numbers.shape(), DType::int8);
    for (Index i = 0; i < numbers.size(); ++i) {
      bytes.data<std::int8_t>()[i] = static_cast<std::int8_t>(std::lround(20 * numbers[i]));
    }
    const Tensor scales({cell.gates * cell_width}, Real(0.05));
    for (const Tensor& stored : {numbers.as(DType::bfloat16), Tensor::quantised(bytes, scales)}) {
      const Tensor hidden = ops::recurrent(cell, input, {Variable(stored)}, {}).hidden.value();
      const Tensor expected = ops::recurrent(cell, input, {Variable(stored.as(DType::real))}, {}).hidden.value();
      CHECK(difference(hidden, expected) < 0.02);
    }
  }
}

TEST_CASE("recurrent: a step of a cell, and its gradients") {
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    std::vector<Tensor> inputs{normal_tensor({cell_batch, cell.gates * cell_width}, 1),
                               normal_tensor({cell_batch, cell.gates * cell_width}, 2)};
    for (Index part = 0; part < cell.states; ++part) {
      inputs.push_back(normal_tensor({cell_batch, cell_width}, 4 + static_cast<std::uint64_t>(part)));
    }
    const auto step = [&](const std::vector<Variable>& given, const Variable& bias) {
      const auto parts = static_cast<std::ptrdiff_t>(cell.states);
      return ops::concatenate(
          ops::recurrent_step(cell, given[0], given[1], bias, {given.begin() + 2, given.begin() + 2 + parts}), 0);
    };
    check_operation([&](const std::vector<Variable>& given) { return step(given, {}); }, inputs);
    if (!cell.recurrent_bias) continue;
    inputs.push_back(normal_tensor({cell_width}, 7));
    check_operation([&](const std::vector<Variable>& given) { return step(given, given.back()); }, inputs);
  }
}

TEST_CASE(
    "recurrent: before the product a cell's gate is an operation with gradients, and a step of it that of whole") {
  for (const ops::Cell& cell : ops::cells()) {
    if (cell.gate == nullptr) continue;
    CAPTURE(std::string(cell.name));
    const Index direct = cell.direct_gates() * cell_width;
    std::vector<Tensor> inputs{normal_tensor({cell_batch, cell.gates * cell_width}, 1),
                               normal_tensor({cell_batch, direct}, 2)};
    for (Index part = 0; part < cell.states; ++part) {
      inputs.push_back(normal_tensor({cell_batch, cell_width}, 4 + static_cast<std::uint64_t>(part)));
    }
    check_operation(
        [&](const std::vector<Variable>& given) {
          return ops::recurrent_gate(cell, given[0], given[1], {given.begin() + 2, given.end()});
        },
        inputs);
    CHECK_THROWS_AS(ops::recurrent_gate(cell, Variable(inputs[0]), Variable(inputs[0]), {Variable(inputs[2])}),
                    ShapeError);
  }
  CHECK_THROWS_AS(ops::recurrent_gate(ops::cell("gru"), Variable(Tensor({1, 3}, 1)), Variable(Tensor({1, 2}, 1)), {}),
                  ShapeError);
}

TEST_CASE("recurrent: with a projection, states are those of the product of both matrices, and gradients match") {
  constexpr Index projected = 3;
  for (const ops::Cell& cell : ops::cells()) {
    if (cell.gate != nullptr) continue;
    for (const RecurrentCase& one : recurrent_cases) {
      CAPTURE(std::string(cell.name));
      CAPTURE(one.name);
      std::vector<Tensor> inputs = inputs_of(cell, one.starts);
      inputs[1] = normal_tensor({cell.gates * cell_width, projected}, 2);
      if (!cell.recurrent_bias) inputs[2] = Tensor({cell_width}, Real(0));
      inputs.insert(inputs.begin() + 3, normal_tensor({projected, cell_width}, 9));
      const auto projecting = [&](const std::vector<Variable>& given) {
        return all_of(ops::recurrent(cell, given[0], {given[1], cell.recurrent_bias ? given[2] : Variable(), given[3]},
                                     {one.lengths, one.reverse, {given.begin() + 4, given.end()}}));
      };
      check_operation(projecting, inputs);
      check_oracle(
          projecting,
          [&](std::vector<Numbers> given) {
            Numbers both(static_cast<std::size_t>(cell.gates * cell_width * cell_width), 0);
            for (std::size_t i = 0; i < static_cast<std::size_t>(cell.gates * cell_width); ++i) {
              for (std::size_t k = 0; k < cell_width; ++k) {
                for (std::size_t j = 0; j < projected; ++j)
                  both[i * cell_width + k] += given[1][i * projected + j] * given[3][j * cell_width + k];
              }
            }
            given[1] = both;
            given.erase(given.begin() + 3);
            return naive_recurrent(cell, one, given);
          },
          inputs);
    }
  }
}

TEST_CASE("recurrent: shapes that do not fit are refused") {
  const ops::Cell& cell = ops::cell("gru");
  const auto inputs = inputs_of(cell, false);
  const Variable input(inputs[0]), weight(inputs[1]);
  CHECK_THROWS_AS(ops::recurrent(ops::cell("lstm"), input, {weight}, {}), ShapeError);
  CHECK_THROWS_AS(ops::recurrent(cell, input, {weight, Variable(Tensor({cell_width + 1}, Real(0)))}, {}), ShapeError);
  CHECK_THROWS_AS(ops::recurrent(cell, input, {weight}, {.lengths = {8, 9, 1}}), ShapeError);
  CHECK_THROWS_AS(ops::recurrent(cell, input, {weight}, {.lengths = {8}}), ShapeError);
  CHECK_THROWS_AS(
      ops::recurrent(cell, input, {weight, {}, Variable(Tensor({cell_width + 1, cell_width}, Real(0)))}, {}),
      ShapeError);
  CHECK_THROWS_AS(
      ops::recurrent(cell, input, {weight}, {.start = {Variable(Tensor({cell_batch, cell_width + 1}, Real(0)))}}),
      ShapeError);
}

namespace {

// The rows of the first `batched` inputs are computed each for itself; of the others, all rows have the same.
using RowOperation = std::function<Variable(const std::vector<Variable>& inputs, Index first)>;

// Output and gradients of a batch are those of its rows alone, one after the other.
void check_rows_alone(const RowOperation& operation, const std::vector<Tensor>& inputs, std::size_t batched) {
  std::vector<Variable> together;
  for (const Tensor& input : inputs) together.push_back(leaf(input.copy()));
  std::optional<Recording> recording(std::in_place);
  const Variable y = operation(together, 0);
  const Tensor weights = sum_weights(y.shape());
  recording->backward(weighted_sum(y, weights));
  recording.reset();
  std::vector<Variable> shared;
  for (const Tensor& input : inputs) shared.push_back(leaf(input.copy()));
  for (Index row = 0; row < inputs[0].shape()[0]; ++row) {
    CAPTURE(row);
    std::vector<Variable> alone = shared;
    for (std::size_t i = 0; i < batched; ++i) alone[i] = leaf(inputs[i].narrowed(0, row, 1).copy());
    recording.emplace();
    const Variable one = operation(alone, row);
    CHECK(difference(y.value().narrowed(0, row, 1), one.value()) < by_precision(1e-12, 1e-5));
    recording->backward(weighted_sum(one, weights.narrowed(0, row, 1).copy()));
    recording.reset();
    for (std::size_t i = 0; i < batched; ++i) {
      CHECK(difference(together[i].gradient()->tensor().narrowed(0, row, 1), alone[i].gradient()->tensor()) <
            by_precision(1e-12, 1e-5));
    }
  }
  for (std::size_t i = batched; i < inputs.size(); ++i) {
    CHECK(relative_difference(together[i].gradient()->tensor(), shared[i].gradient()->tensor()) <
          by_precision(1e-12, 1e-5));
  }
}

}  // namespace

// A task takes 16 rows through all times, 4 rows of a step, and 64 columns of a sum.
TEST_CASE("recurrent: each row of a large batch is what it is alone, and so are its gradients, in wide cells, too") {
  for (const ops::Cell& cell : ops::cells()) {
    for (const auto& [rows, width] : std::vector<std::pair<Index, Index>>{{17, 3}, {35, 2}, {3, 65}}) {
      CAPTURE(std::string(cell.name));
      CAPTURE(rows);
      std::vector<Index> lengths;
      for (Index row = 0; row < rows; ++row) lengths.push_back(1 + row * 7 % 3);
      std::vector<Tensor> states, inputs{normal_tensor({rows, 3, cell.gates * width}, 1)};
      for (Index part = 0; part < cell.states; ++part) {
        states.push_back(normal_tensor({rows, width}, 4 + static_cast<std::uint64_t>(part)));
      }
      inputs.insert(inputs.end(), states.begin(), states.end());
      inputs.push_back(normal_tensor({cell.gates * width, width}, 2, 0.3));
      inputs.push_back(normal_tensor({width}, 3));
      const std::size_t parts = states.size();
      for (const bool reverse : {false, true}) {
        const RowOperation operation = [&](const std::vector<Variable>& given, Index first) {
          const Index count = given[0].shape()[0];
          const auto states_of = given.begin() + 1;
          ops::RecurrentResult result =
              ops::recurrent(cell, given[0], {given[parts + 1], cell.recurrent_bias ? given[parts + 2] : Variable()},
                             {{lengths.begin() + first, lengths.begin() + first + count},
                              reverse,
                              {states_of, states_of + static_cast<std::ptrdiff_t>(parts)}});
          result.last.insert(result.last.begin(), view(result.hidden, [](const Tensor& t) {
                               return t.reshaped({t.shape()[0], t.shape()[1] * t.shape()[2]});
                             }));
          return ops::concatenate(result.last, 1);
        };
        if (!cell.recurrent_bias && inputs.size() == parts + 3) inputs.pop_back();
        check_rows_alone(operation, inputs, parts + 1);
        // A sum that rows share is the same for all of them, right or wrong.
        if (width > 64) check_operation([&](const auto& given) { return operation(given, 0); }, inputs);
      }
      std::vector<Tensor> of_step{normal_tensor({rows, cell.gates * width}, 5),
                                  normal_tensor({rows, cell.gates * width}, 6)};
      of_step.insert(of_step.end(), states.begin(), states.end());
      if (cell.recurrent_bias) of_step.push_back(normal_tensor({width}, 7));
      check_rows_alone(
          [&](const std::vector<Variable>& given, Index) {
            const auto begin = given.begin() + 2, end = begin + static_cast<std::ptrdiff_t>(parts);
            return ops::concatenate(ops::recurrent_step(cell, given[0], given[1],
                                                        cell.recurrent_bias ? given.back() : Variable(), {begin, end}),
                                    1);
          },
          of_step, parts + 2);
    }
  }
}
