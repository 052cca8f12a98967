#include "libcore/tensor/tensor.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "libcore/base/random.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/pool.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"
#include "support/on_threads.hpp"
#include "support/patience.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Tensor counting(const Shape& shape) {
  Tensor tensor(shape);
  for (Index i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<Real>(i);
  return tensor;
}

Tensor normal(const Shape& shape, std::uint64_t seed) {
  Tensor tensor(shape);
  const RandomStream stream(seed, 0);
  for (Index i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
  return tensor;
}

}  // namespace

TEST_CASE("tensor: views share elements and keep their order") {
  const Tensor t = counting({2, 3, 8});
  CHECK(t.narrowed(1, 1, 2).elements() == std::vector<Real>{8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18,
                                                            19, 20, 21, 22, 23, 32, 33, 34, 35, 36, 37,
                                                            38, 39, 40, 41, 42, 43, 44, 45, 46, 47});
  const Tensor heads = t.split(-1, 4).swapped(1, 2);  // [2, 4, 3, 2]
  CHECK(heads.shape() == Shape{2, 4, 3, 2});
  CHECK(heads.narrowed(0, 1, 1).narrowed(1, 2, 1).elements() == std::vector<Real>{28, 29, 36, 37, 44, 45});
  CHECK(t.split(-1, 4).merged(2).elements() == t.elements());
  CHECK(t.split(-1, 4).merged(0).shape() == Shape{6, 4, 2});
  CHECK(t.narrowed(1, 0, 1).merged(1).shape() == Shape{2, 8});
  CHECK_THROWS_AS(t.narrowed(1, 0, 2).merged(0), ShapeError);
  CHECK_THROWS_AS(heads.merged(1), ShapeError);
  heads.fill(1);
  CHECK(t.elements() == std::vector<Real>(48, 1));
  CHECK_THROWS_AS(heads.reshaped({48}), ShapeError);
  CHECK_THROWS_AS(t.split(-1, 3), ShapeError);
  CHECK_THROWS_AS(t.narrowed(0, 1, 2), ShapeError);
}

TEST_CASE("tensor: strided assign and add") {
  const Tensor a({2, 4}, 1), b = counting({4, 2});
  a.add(b.swapped(0, 1));
  CHECK(a.elements() == std::vector<Real>{1, 3, 5, 7, 2, 4, 6, 8});
  a.assign(b.swapped(0, 1));
  CHECK(a.elements() == std::vector<Real>{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK_THROWS_AS(a.add(b), ShapeError);
}

TEST_CASE("pool: freed blocks come back without asking the system") {
  { const Tensor warm({1000, 33}); }
  const auto before = pool().statistics();
  for (int i = 0; i < 5; ++i) const Tensor again({1000, 33});
  const auto after = pool().statistics();
  CHECK(after.system_allocations == before.system_allocations);
  CHECK(after.bytes_in_use == before.bytes_in_use);
}

TEST_CASE("pool: ever new sizes do with the memory of a few") {
  pool().trim();
  const auto before = pool().statistics();
  for (Index i = 0; i < 1000; ++i) {
    const Index rows = 1000 + i * 617 % 1000;
    const Tensor one({rows, 100}), two({rows, 300});
  }
  constexpr std::size_t largest = 2000 * 400 * sizeof(Real);
  CHECK(pool().statistics().bytes_from_system < before.bytes_from_system + 10 * largest);
  pool().trim();
  CHECK(pool().statistics().bytes_from_system == before.bytes_from_system);
}

TEST_CASE("threads: every task runs once, nested calls run, exceptions arrive") {
  for (const int threads : {1, 2, 3, 5}) {
    CAPTURE(threads);
    const OnThreads scope(threads);
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::vector<int> hits(97, 0);
      parallel_for(97, [&](Index i) { ++hits[static_cast<std::size_t>(i)]; });
      REQUIRE(hits == std::vector<int>(97, 1));
    }
    std::atomic<int> inner{0};
    parallel_for(8, [&](Index) { parallel_for(8, [&](Index) { ++inner; }); });
    CHECK(inner == 64);
    CHECK_THROWS_WITH_AS(parallel_for(50, [](Index i) { check<DataError>(i != 31, "task ", i); }), "task 31",
                         DataError);
  }
  CHECK_THROWS_AS(Context(0), UsageError);
}

TEST_CASE("threads: after tasks have thrown, all threads work, nested calls too, and products are counted") {
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    const OnThreads scope(threads);
    const Tensor a = normal({3, 4}, 1), b = normal({4, 5}, 2), c({3, 5});
    for (const Index failing : {Index{0}, Index{29}, Index{-1}}) {  // the first, the last, all
      CAPTURE(failing);
      CHECK_THROWS_AS(parallel_for(30,
                                   [&](Index i) {
                                     parallel_for(2, [&](Index) {
                                       if (failing < 0 || i == failing) throw std::out_of_range("task");
                                     });
                                   }),
                      std::out_of_range);
      std::vector<int> hits(97, 0);
      parallel_for(97, [&](Index i) { ++hits[static_cast<std::size_t>(i)]; });
      CHECK(hits == std::vector<int>(97, 1));
      const double before = matmul_flops();
      parallel_for(4, [&](Index) { matmul(matrix(a), matrix(b), target(Tensor({3, 5}))); });
      CHECK(matmul_flops() - before == 4 * 2 * 3 * 4 * 5);
      // Tasks that wait for each other: each needs a thread of its own.
      std::atomic<int> here{0}, met{0};
      parallel_for(threads, [&](Index) {
        ++here;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(patient_seconds(20));
        while (here < threads && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        if (here == threads) ++met;
      });
      CHECK(met == threads);
    }
  }
}

TEST_CASE("matmul: equals the triple loop, transposed or not, and its bits do not depend on threads") {
  const Index m = 301, n = 517, k = 70;
  const Tensor a = normal({m, k}, 1), b = normal({k, n}, 2), at = a.swapped(0, 1).copy(), bt = b.swapped(0, 1).copy();
  const Tensor c({m, n}, 1);
  std::vector<Real> first;
  for (const int threads : {1, 2, 3}) {
    const OnThreads scope(threads);
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        c.fill(1);
        matmul(ta ? transpose(at.data(), k, m) : matrix(a.data(), m, k),
               tb ? transpose(bt.data(), n, k) : matrix(b.data(), k, n), {c.data(), m, n, n}, 2, Real(0.5));
        for (const Index i : {Index{0}, Index{150}, m - 1}) {
          for (const Index j : {Index{0}, Index{256}, n - 1}) {
            double expected = 0.25;
            for (Index l = 0; l < k; ++l) expected += double(a[i * k + l]) * double(b[l * n + j]);
            CHECK(c[i * n + j] == doctest::Approx(2 * expected).epsilon(1e-4));
          }
        }
      }
    }
    if (first.empty()) first = c.elements();
    CHECK(c.elements() == first);
  }
  CHECK_THROWS_AS(matmul(matrix(a.data(), m, k), matrix(b.data(), n, k), {c.data(), m, n, n}), ShapeError);
}

TEST_CASE("matmul: tiles are delivered once each, when final") {
  const Index m = 600, n = 900, k = 5;
  const Tensor a({m, k}, 1), b({k, n}, 1), c({m, n}, 1);
  matmul(matrix(a), matrix(b), [&](const Real* values, Index stride, const Tile& tile) {
    for (Index i = tile.row_begin; i < tile.row_end; ++i) {
      for (Index j = tile.column_begin; j < tile.column_end; ++j) {
        c[i * n + j] += values[(i - tile.row_begin) * stride + j - tile.column_begin];
      }
    }
  });
  CHECK(c.elements() == std::vector<Real>(static_cast<std::size_t>(m * n), 6));
}

TEST_CASE("simulation: counts arithmetic and memory without doing either") {
  const double flops = matmul_flops();
  {
    const Simulation simulation;
    const Index n = 100000;  // 40 GB and more
    const Tensor a({n, n}), b({n, n}), c({n, n}, 1);
    matmul(matrix(a.data(), n, n), matrix(b.data(), n, n), {c.data(), n, n, n});
    CHECK(pool().statistics().bytes_in_use >= std::size_t(3) * 100000 * 100000 * sizeof(Real));
  }
  CHECK(matmul_flops() - flops == doctest::Approx(2e15));
  CHECK(pool().statistics().bytes_in_use < (std::size_t{1} << 30));
}

TEST_CASE("math: vectorisable functions agree with the library") {
  for (float x = -87; x < 88; x += 0.37f) {
    CAPTURE(x);
    CHECK(math::exp(x) == doctest::Approx(std::exp(x)).epsilon(3e-7));
  }
  for (float x = -9; x < 9; x += 0.0137f) {
    CAPTURE(x);
    CHECK(std::abs(math::tanh(x) - std::tanh(x)) < 3e-7f);
    CHECK(std::abs(math::erf(x) - std::erf(x)) < 5e-7f);
  }
  for (float x = -300; x < 300; x += 0.73f) {
    CAPTURE(x);
    const auto whole = static_cast<std::int32_t>(std::ceil(x * 1.4427f));
    const float scaled = math::exp_scaled(x, whole);
    CHECK(scaled == doctest::Approx(std::exp(static_cast<double>(x) - whole * std::log(2.0))).epsilon(2e-5));
    // The shift changes no digit.
    CHECK(math::exp_scaled(x, whole + 7) == scaled / 128);
    CHECK(math::exp_scaled(static_cast<double>(x), whole + 7) == math::exp_scaled(static_cast<double>(x), whole) / 128);
  }
  CHECK(math::exp_scaled(-1000.0f, 0) == 0.0f);
  CHECK(std::isfinite(math::exp_scaled(1000.0f, 0)));
  CHECK(math::exp(-1000.0f) == 0.0f);
  CHECK(std::isfinite(math::exp(1000.0f)));
}

#ifndef HEDDLE_SANITIZED  // it ends the program instead
TEST_CASE("workspace: after memory that cannot be had, there is memory again") {
  Workspace workspace;
  workspace.get<Real>(10)[9] = 1;
  for (int again = 0; again < 2; ++again) {  // the second time, too
    CHECK_THROWS_AS(workspace.get<Real>(Index{1} << 55), DataError);
  }
  Real* const room = workspace.get<Real>(20);
  REQUIRE(room != nullptr);
  room[19] = 2;
  CHECK(room[19] == 2);
}
#endif
