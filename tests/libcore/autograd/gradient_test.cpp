#include <doctest/doctest.h>

#include "libcore/autograd/tape.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("gradient: the first contribution sets, later ones add") {
  Gradient gradient({2});
  CHECK(gradient.is_empty());
  CHECK(gradient.tensor().empty());
  const GradientTarget first = gradient.target();
  CHECK_FALSE(first.add);
  CHECK(first.beta() == 0);
  first.tensor.assign(Tensor({2}, {1, 2}));
  const GradientTarget second = gradient.target();
  CHECK(second.add);
  CHECK(second.beta() == 1);
  CHECK(second.tensor.data() == first.tensor.data());
  gradient.contribute(Tensor({2}, {10, 20}));
  CHECK(gradient.tensor().elements() == std::vector<Real>{11, 22});
  CHECK_THROWS_AS(gradient.contribute(Tensor({3}, 1)), ShapeError);
}

TEST_CASE("gradient: an adding target starts at zero and keeps what was contributed") {
  Gradient gradient({2});
  CHECK(gradient.adding_target().elements() == std::vector<Real>{0, 0});
  gradient.contribute(Tensor({2}, {1, 2}));
  CHECK(gradient.adding_target().elements() == std::vector<Real>{1, 2});
}

TEST_CASE("gradient: a contributed tensor that others still hold is not written to") {
  const Tensor shared({2}, {1, 2});
  Gradient gradient({2});
  gradient.contribute(shared);
  gradient.contribute(Tensor({2}, {10, 20}));
  CHECK(shared.elements() == std::vector<Real>{1, 2});
  CHECK(gradient.tensor().elements() == std::vector<Real>{11, 22});
}

TEST_CASE("gradient: strided contributions and strided views of a base") {
  Gradient gradient({2, 3});
  const Tensor turned = Tensor({3, 2}, {1, 2, 3, 4, 5, 6}).swapped(0, 1);
  gradient.contribute(turned);
  CHECK(gradient.tensor().is_contiguous());
  CHECK(gradient.tensor().elements() == std::vector<Real>{1, 3, 5, 2, 4, 6});

  const auto base = std::make_shared<Gradient>(Shape{2, 3});
  Gradient column({2, 1}, base, [](const Tensor& t) { return t.narrowed(1, 1, 1); });
  CHECK(column.is_empty());
  column.contribute(Tensor({2, 1}, {7, 8}));
  CHECK(base->tensor().elements() == std::vector<Real>{0, 7, 0, 0, 8, 0});
  CHECK(column.target().add);
  CHECK(column.tensor().elements() == std::vector<Real>{7, 8});
}

TEST_CASE("gradient: a sum that is released stays as it is, and the next one has other memory") {
  Gradient gradient({4, 2}, Gradient::Lifetime::persistent);
  CHECK(gradient.release().empty());
  gradient.target().tensor.fill(3);
  const Tensor first = gradient.release();
  CHECK(gradient.is_empty());
  CHECK(gradient.adding_target().elements() == std::vector<Real>(8, 0));
  CHECK(first.elements() == std::vector<Real>(8, 3));
  gradient.clear();
  const std::vector<TokenId> rows{1};
  gradient.adding_target(rows)[2] += 5;
  CHECK(gradient.release()[2] == 5);
  gradient.adding_target(rows)[3] += 1;
  CHECK(gradient.tensor().elements() == std::vector<Real>{0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(gradient.rows() == std::vector<Index>{1});

  const auto base = std::make_shared<Gradient>(Shape{4}, Gradient::Lifetime::persistent);
  const auto view = std::make_shared<Gradient>(Shape{2}, base, [](const Tensor& t) { return t.narrowed(0, 2, 2); });
  CHECK_THROWS_AS(view->release(), Error);
  CHECK(view->root() == base.get());
}

TEST_CASE("gradient: a persistent one keeps its memory from step to step and takes nothing over") {
  Gradient gradient({4}, Gradient::Lifetime::persistent);
  const Tensor first({4}, 1);
  gradient.contribute(first);
  const Real* memory = gradient.tensor().data();
  CHECK(memory != first.data());
  for (int step = 0; step < 3; ++step) {
    gradient.clear();
    CHECK(gradient.is_empty());
    gradient.contribute(Tensor({4}, 2));
    CHECK(gradient.tensor().data() == memory);
    CHECK(gradient.tensor().elements() == std::vector<Real>(4, 2));
  }
}

TEST_CASE("gradient: of a table to which rows alone are added, these are known, and the others stay zero") {
  Gradient gradient({4, 2}, Gradient::Lifetime::persistent);
  CHECK_FALSE(gradient.rows().has_value());
  const auto add = [&](const std::vector<TokenId>& rows, Real value) {
    const Tensor target = gradient.adding_target(rows);
    for (const TokenId row : rows) target[row * 2] += value;
  };
  for (int step = 0; step < 2; ++step) {
    add({3, 1, 3}, 1);
    add({1}, 5);
    CHECK(gradient.rows() == std::vector<Index>{1, 3});
    CHECK(gradient.tensor().elements() == std::vector<Real>{0, 0, 6, 0, 0, 0, 2, 0});
    gradient.clear();
    CHECK(gradient.is_empty());
    CHECK_FALSE(gradient.rows().has_value());
  }
  add({0}, 1);
  CHECK(gradient.rows() == std::vector<Index>{0});
  CHECK(gradient.tensor().elements() == std::vector<Real>{1, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("gradient: whatever else is contributed, before or after rows, no row is known to be zero") {
  const std::vector<TokenId> second{1};
  Gradient gradient({2, 1}, Gradient::Lifetime::persistent);
  gradient.contribute(Tensor({2, 1}, {3, 4}));
  gradient.adding_target(second)[1] += 1;
  CHECK_FALSE(gradient.rows().has_value());
  CHECK(gradient.tensor().elements() == std::vector<Real>{3, 5});
  gradient.clear();
  gradient.adding_target(second)[1] += 1;
  CHECK(gradient.rows() == std::vector<Index>{1});
  gradient.contribute(Tensor({2, 1}, {3, 4}));
  CHECK_FALSE(gradient.rows().has_value());
  CHECK(gradient.tensor().elements() == std::vector<Real>{3, 5});
  gradient.clear();
  gradient.adding_target(second);
  CHECK(gradient.tensor().elements() == std::vector<Real>{0, 0});
}
