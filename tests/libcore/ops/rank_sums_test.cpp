// Ranks are threads.
#include "libcore/ops/rank_sums.hpp"

#include <vector>

#include "libcore/ops/linear.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace rank_sums_tests {

namespace {

constexpr Index rows = 3, width = 5, inner = 8;

// tanh(x A^T) B^T + b + r of which a rank has some columns of A and rows of B.
Variable shared_layer(const std::vector<Variable>& inputs, const parallel::Group& group) {
  const parallel::Range own = parallel::part_of(inner, group.rank(), group.size());
  const Tensor a = normal_tensor({inner, width}, 1).narrowed(0, own.begin, own.count());
  const Tensor b = normal_tensor({width, inner}, 2).narrowed(1, own.begin, own.count()).copy();
  const Variable x = ops::read_by_ranks(inputs[0], group);
  const Variable hidden = ops::linear(x, Variable(a), {}, {.activation = Activation::tanh, .output = DType::real});
  return ops::sum_of_ranks(ops::linear(hidden, Variable(b), {}, {.output = DType::real}), inputs[1], inputs[2], group);
}

const std::vector<Tensor>& layer_inputs() {
  static const std::vector<Tensor> inputs{normal_tensor({2, rows, width}, 3), normal_tensor({width}, 4),
                                          normal_tensor({2, rows, width}, 5)};
  return inputs;
}

}  // namespace

TEST_CASE("rank sums: gradients of what all ranks have match differences, with 2 and 4 ranks") {
  for (const int ranks : {2, 4}) {
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      check_operation([&](const std::vector<Variable>& inputs) { return shared_layer(inputs, group); }, layer_inputs());
    });
  }
}

TEST_CASE("rank sums: results and gradients are those of one rank, and the same bits on all") {
  const Differentiated alone = differentiate(
      [](const std::vector<Variable>& inputs) { return shared_layer(inputs, parallel::alone()); }, layer_inputs());
  for (const int ranks : {2, 3, 4}) {
    std::vector<Differentiated> all(static_cast<std::size_t>(ranks));
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      all[static_cast<std::size_t>(group.rank())] = differentiate(
          [&](const std::vector<Variable>& inputs) { return shared_layer(inputs, group); }, layer_inputs());
    });
    for (const Differentiated& one : all) {
      CHECK(relative_difference(one.output, alone.output) < by_precision(1e-14, 1e-6));
      CHECK(one.output.elements() == all[0].output.elements());
      for (std::size_t i = 0; i < one.gradients.size(); ++i) {
        CHECK(relative_difference(one.gradients[i], alone.gradients[i]) < by_precision(1e-14, 2e-6));
        CHECK(one.gradients[i].elements() == all[0].gradients[i].elements());
      }
    }
  }
}

TEST_CASE("rank sums: a bias of another width is refused") {
  const Variable x(normal_tensor({2, 3}, 1));
  CHECK_THROWS_AS((void)ops::sum_of_ranks(x, Variable(normal_tensor({2}, 1)), {}, parallel::alone()), ShapeError);
  CHECK_THROWS_AS((void)ops::sum_of_ranks(x, {}, Variable(normal_tensor({3}, 1)), parallel::alone()), ShapeError);
}

}  // namespace rank_sums_tests
