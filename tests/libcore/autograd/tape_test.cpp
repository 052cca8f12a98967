#include "libcore/autograd/tape.hpp"

#include <doctest/doctest.h>

#include "libcore/autograd/parameters.hpp"
#include "libcore/base/error.hpp"
#include "libcore/tensor/pool.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Tensor times(const Tensor& x, Real factor) {
  const Tensor y = x.copy();
  y.scale(factor);
  return y;
}

// y = factor x; keeps x for its backward pass, as most operations do.
Variable scaled(const Variable& x, Real factor) {
  return record(times(x.value(), factor), {x}, [kept = x.value(), gradient = x.gradient(), factor](const Tensor& dy) {
    gradient->contribute(times(dy, factor));
  });
}

// y = a + b
Variable sum(const Variable& a, const Variable& b) {
  const Tensor y = a.value().copy();
  y.add(b.value());
  return record(y, {a, b}, [da = a.gradient(), db = b.gradient()](const Tensor& dy) {
    if (da) da->contribute(dy);
    if (db) db->contribute(dy);
  });
}

std::size_t bytes_in_use() {
  return pool().statistics().bytes_in_use;
}

}  // namespace

TEST_CASE("tape: the chain rule along a chain and over a fork") {
  const Variable x = leaf(Tensor({2}, {3, 5}));
  Recording recording;
  const Variable y = sum(scaled(x, 2), scaled(scaled(x, 4), -3));  // -10 x
  recording.backward(weighted_sum(y, Tensor({2}, {1, 7})), Real(0.5));
  CHECK(y.value().elements() == std::vector<Real>{-30, -50});
  CHECK(y.gradient()->is_empty());  // passed on, and freed, though y is still held
  CHECK(x.gradient()->tensor().elements() == std::vector<Real>{-5, -35});
}

TEST_CASE("tape: x + x counts twice, and gradients of two backward passes add up") {
  const Variable x = leaf(Tensor({1}, {3}));
  for (const Real expected : {Real(2), Real(4)}) {
    Recording recording;
    recording.backward(sum(x, x));
    CHECK(x.gradient()->tensor()[0] == expected);
  }
  x.gradient()->clear();
  CHECK(x.gradient()->is_empty());
}

TEST_CASE("tape: inputs that are handed one and the same gradient do not see each other's additions") {
  for (const bool a_first : {true, false}) {
    CAPTURE(a_first);
    const Variable a = leaf(Tensor({2}, 1)), b = leaf(Tensor({2}, 1));
    Recording recording;
    const Variable more = scaled(a_first ? a : b, 10);
    recording.backward(weighted_sum(sum(more, sum(a, b)), Tensor({2}, {1, 2})));
    CHECK(a.gradient()->tensor().elements() == (a_first ? std::vector<Real>{11, 22} : std::vector<Real>{1, 2}));
    CHECK(b.gradient()->tensor().elements() == (a_first ? std::vector<Real>{1, 2} : std::vector<Real>{11, 22}));
  }
}

TEST_CASE("tape: views of one variable give their parts of its gradient, the rest is zero") {
  const Variable x = leaf(normal_tensor({3, 4}, 1));
  Recording recording;
  const Variable columns = view(x, [](const Tensor& t) { return t.narrowed(1, 1, 2).swapped(0, 1); });
  const Variable corner = view(columns, [](const Tensor& t) { return t.narrowed(0, 0, 1).narrowed(1, 2, 1); });
  CHECK(corner.value().elements() == std::vector<Real>{x.value()[9]});
  CHECK(columns.gradient()->is_empty());
  const Variable row_sum = weighted_sum(columns, Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  recording.backward(sum(row_sum, weighted_sum(corner, Tensor({1, 1}, {100}))));
  CHECK(x.gradient()->tensor().elements() == std::vector<Real>{0, 1, 4, 0, 0, 2, 5, 0, 0, 103, 6, 0});
  CHECK(corner.gradient()->tensor().elements() == std::vector<Real>{103});
}

TEST_CASE("tape: branches that do not lead to the root are left out, and constants get no gradient") {
  const Variable x = leaf(Tensor({1}, {1})), constant{Tensor({1}, {2})};
  Recording recording;
  const Variable unused = scaled(x, 1000);
  const Variable doubled = scaled(constant, 2);
  CHECK(doubled.gradient() == nullptr);
  const Variable y = sum(sum(x, doubled), constant);
  CHECK(y.value()[0] == 7);
  recording.backward(y);
  CHECK(x.gradient()->tensor()[0] == 1);
  CHECK(constant.gradient() == nullptr);
  CHECK(unused.gradient()->is_empty());
}

TEST_CASE("tape: backward refuses what it cannot start from, and nesting is refused") {
  const Variable x = leaf(Tensor({2}, 1)), constant{Tensor({1}, 1)};
  Recording recording;
  CHECK_THROWS_AS(recording.backward(x), ShapeError);
  CHECK_THROWS_AS(recording.backward(constant), Error);
  CHECK_THROWS_AS(Recording(), Error);
  CHECK(Recording::current() == &recording);
}

TEST_CASE("tape: without a recording nothing is recorded and intermediate results are freed") {
  const Variable x = leaf(Tensor({1000}, 1));
  const std::size_t before = bytes_in_use();
  Variable y = x;
  for (int i = 0; i < 10; ++i) y = scaled(y, 2);
  CHECK(Recording::current() == nullptr);
  CHECK(y.gradient() == nullptr);
  CHECK(view(x, [](const Tensor& t) { return t.narrowed(0, 0, 3); }).gradient() == nullptr);
  CHECK(bytes_in_use() - before <= 1000 * sizeof(Real) + 64);
}

TEST_CASE("tape: a chain of 200,000 operations runs backward") {
  const Variable x = leaf(Tensor({1}, {1}));
  Recording recording;
  Variable y = x;
  for (int i = 0; i < 200000; ++i) y = scaled(y, i % 2 == 0 ? Real(2) : Real(0.5));
  recording.backward(y);
  CHECK(x.gradient()->tensor()[0] == 1);
}

TEST_CASE("tape: a recording of 200,000 operations that is dropped without backward") {
  const Variable x = leaf(Tensor({1}, {1}));
  const std::size_t before = bytes_in_use();
  {
    Recording recording;
    Variable y = x;
    for (int i = 0; i < 200000; ++i) y = scaled(y, 1);
  }
  CHECK(bytes_in_use() == before);
}

TEST_CASE("tape: backward frees what each operation kept as it goes") {
  constexpr std::size_t layers = 10, elements = 1 << 16, block = elements * sizeof(Real);
  const std::size_t at_start = bytes_in_use();
  std::size_t at_last_step = 0;
  const Variable x = leaf(Tensor({Index{elements}}, 1));
  {
    Recording recording;
    Variable y = record(x.value().copy(), {x}, [&at_last_step, gradient = x.gradient()](const Tensor& dy) {
      at_last_step = bytes_in_use();
      gradient->contribute(dy);
    });
    for (std::size_t i = 0; i < layers; ++i) y = scaled(y, 2);
    const Variable root = weighted_sum(y, Tensor({Index{elements}}, 1));
    y = {};
    CHECK(bytes_in_use() - at_start > layers * block);
    recording.backward(root);
  }
  CHECK(at_last_step - at_start < 4 * block);
  CHECK(bytes_in_use() - at_start < 2 * block + 1024);  // x and its gradient
}

TEST_CASE("tape: leaves are complete once each, unused ones first, then by their first uses from the end") {
  const Variable early = leaf(Tensor({2}, {1, 2})), late = leaf(Tensor({2}, {3, 4})),
                 unused = leaf(Tensor({2}, {5, 6})), dead = leaf(Tensor({2}, {7, 8})),
                 unwatched = leaf(Tensor({2}, {1, 1}));
  const std::vector<Variable> leaves{early, late, unused, dead};
  std::vector<const Gradient*> watched;
  for (const Variable& variable : leaves) watched.push_back(variable.gradient().get());
  std::vector<std::size_t> order;
  std::vector<std::vector<Real>> then;
  Recording recording;
  recording.watch_leaves(watched, [&](std::size_t i) {
    order.push_back(i);
    then.push_back(leaves[i].gradient()->is_empty() ? std::vector<Real>() : leaves[i].gradient()->tensor().elements());
  });
  const auto first_half = [](const Tensor& t) { return t.narrowed(0, 0, 1); };
  const Variable a = scaled(view(early, first_half), 2);  // the first use of `early`, by a view
  (void)scaled(dead, 3);                                  // leads nowhere
  const Variable b = scaled(sum(late, unwatched), 5);
  const Variable c = sum(a, view(sum(b, early), first_half));  // `early` again
  recording.backward(weighted_sum(c, Tensor({1}, {10})));
  CHECK(order == std::vector<std::size_t>{2, 1, 3, 0});
  CHECK(then[0].empty());
  CHECK(then[1] == std::vector<Real>{50, 0});
  CHECK(then[2].empty());
  CHECK(then[3] == std::vector<Real>{30, 0});
  CHECK(early.gradient()->tensor().elements() == then[3]);
}

TEST_CASE("tape: leaves are watched once each and from the beginning") {
  const Variable x = leaf(Tensor({1}, {1}));
  Recording recording;
  CHECK_THROWS_AS(recording.watch_leaves({x.gradient().get(), x.gradient().get()}, [](std::size_t) {}), Error);
  (void)scaled(x, 2);
  CHECK_THROWS_AS(recording.watch_leaves({x.gradient().get()}, [](std::size_t) {}), Error);
}

TEST_CASE("tape: after an operation or what watches leaves has thrown, nothing is left and another recording works") {
  for (const std::string failing : {"forward", "backward", "complete", ""}) {
    CAPTURE(failing);
    Parameters parameters(ParameterSource(1));
    const Scope scope(parameters, "");
    const Variable table = scope.parameter("table", {4, 2}, Initializer::ones(), Decay::no),
                   x = scope.parameter("x", {2}, Initializer::ones(), Decay::no);
    parameters.allocate_gradients();
    // Adds the rows of a table, and fails in the midst of it.
    const auto picked = [&](const std::vector<TokenId>& rows, bool fails) {
      if (fails && failing == "forward") throw DataError("forward");
      Tensor sum({2}, Real(0));
      for (const TokenId row : rows) sum.add(table.value().narrowed(0, row, 1).copy().reshaped({2}));
      return record(sum, {table}, [=, gradient = table.gradient(), &failing](const Tensor& dy) {
        const Tensor to = gradient->adding_target(rows);
        for (const TokenId row : rows) {
          to.narrowed(0, row, 1).add(dy.reshaped({1, 2}));
          if (fails && failing == "backward") throw DataError("backward");
        }
      });
    };
    const auto loss = [&](const std::vector<TokenId>& rows, bool fails) {
      return weighted_sum(sum(scaled(x, 3), sum(picked(rows, fails), scaled(x, -1))), Tensor({2}, {1, 10}));
    };
    const std::size_t before = bytes_in_use();
    const auto run = [&](const std::vector<TokenId>& rows, bool fails) {
      Recording recording;
      parameters.watch_gradients(recording, [&](const Parameter&) {
        if (fails && failing == "complete") throw DataError("complete");
      });
      recording.backward(loss(rows, fails));
    };
    if (!failing.empty()) CHECK_THROWS_WITH_AS(run({2, 0, 2}, true), failing.c_str(), DataError);
    CHECK(Recording::current() == nullptr);
    parameters.clear_gradients();
    CHECK(bytes_in_use() <= before + 64);
    run({1, 2}, false);
    CHECK(x.gradient()->tensor().elements() == std::vector<Real>{2, 20});
    CHECK(table.gradient()->tensor().elements() == std::vector<Real>{0, 0, 1, 10, 1, 10, 0, 0});
    CHECK(table.gradient()->rows() == std::vector<Index>{1, 2});
  }
}
