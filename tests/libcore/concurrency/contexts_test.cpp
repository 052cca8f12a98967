#include "libcore/tensor/context.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>

#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "side_by_side.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Precision other_precision() {
  return bf16_is_supported() ? Precision::bf16 : Precision::f32;
}

// a b^T, large enough for several tasks.
struct Product {
  Tensor a = normal_tensor({150, 70}, 1), b = normal_tensor({200, 70}, 2);

  std::vector<Real> operator()() const {
    const Tensor c({150, 200});
    matmul(matrix(a), transpose(b), target(c));
    return c.elements();
  }
  double flops() const { return 2.0 * 150 * 200 * 70; }
};

// Work that two threads repeat and that other threads must not affect: true if all results are right.
bool all_is_well(const Product& product, const std::vector<Real>& expected, Precision precision, int threads) {
  bool well = true;
  for (int repeat = 0; repeat < 40; ++repeat) {
    std::vector<int> hits(97, 0);
    parallel_for(97, [&](Index i) {
      const bool right = heddle::precision() == precision && thread_count() == threads && !Simulation::active();
      hits[static_cast<std::size_t>(i)] += right ? 1 : 100;
    });
    well = well && hits == std::vector<int>(97, 1) && product() == expected;
  }
  return well;
}

// Each task in another thread: they wait for one another.
template <class Body>
void on_each_of(int threads, const Body& body) {
  std::atomic<int> arrived{0};
  parallel_for(threads, [&](Index i) {
    ++arrived;
    while (arrived < threads) std::this_thread::yield();
    body(i);
  });
}

}  // namespace

TEST_CASE("contexts: scopes nest, and what they do not say stays") {
  const ContextScope scope{Context(3)};
  const Pool* const memory = &pool();
  CHECK(thread_count() == 3);
  CHECK(precision() == Precision::f32);
  {
    const PrecisionScope inner(other_precision());
    const Simulation simulation;
    CHECK(thread_count() == 3);
    CHECK(precision() == other_precision());
    CHECK(Simulation::active());
    CHECK(&pool() != memory);
  }
  CHECK(precision() == Precision::f32);
  CHECK(!Simulation::active());
  CHECK(&pool() == memory);
}

TEST_CASE("contexts: impossible ones are refused") {
  CHECK_THROWS_WITH_AS(Context(0), "`threads` = 0 must be from 1 to 1024", UsageError);
  CHECK_THROWS_AS(Context(1025), UsageError);
  CHECK_THROWS_AS(chosen(PrecisionChoice::automatic), UsageError);
  if (bf16_is_supported()) return;
  CHECK_THROWS_AS(Context(1, Precision::bf16), UsageError);
  CHECK_THROWS_AS(PrecisionScope(Precision::bf16), UsageError);
}

TEST_CASE("contexts: tasks see the caller's on every thread, and what they change is theirs") {
  const ContextScope scope{Context(3, other_precision())};
  const RowKernelsScope kernels(RowKernels::many);
  const Context& caller = Context::current();
  std::vector<const Context*> seen(3);
  std::vector<std::thread::id> threads(3);
  on_each_of(3, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    threads[at] = std::this_thread::get_id();
    { const PrecisionScope inner(Precision::f32); }
    seen[at] = &Context::current();
  });
  CHECK(seen == std::vector<const Context*>(3, &caller));
  CHECK(std::set<std::thread::id>(threads.begin(), threads.end()).size() == 3);
}

TEST_CASE("contexts: tensors may outlive theirs") {
  Tensor kept;
  {
    const ContextScope scope{Context(2)};
    kept = Tensor({1000}, 3);
  }
  kept.add(Tensor({1000}, 1));
  CHECK(kept.elements() == std::vector<Real>(1000, 4));
}

TEST_CASE("contexts: two threads compute side by side, each in its own") {
  const Product product;
  const std::vector<Real> single = product(), other = [&] {
    const PrecisionScope scope(other_precision());
    return product();
  }();
  bool first = false, second = false;
  side_by_side({[&] {
                  const ContextScope scope{Context(3)};
                  first = all_is_well(product, single, Precision::f32, 3);
                },
                [&] {
                  const ContextScope scope{Context(2, other_precision())};
                  second = all_is_well(product, other, other_precision(), 2);
                }});
  CHECK(first);
  CHECK(second);
}

TEST_CASE("contexts: two threads compute side by side in the same one") {
  const Product product;
  const std::vector<Real> expected = product();
  const Context shared(3);
  std::vector<int> well(2, 0);
  const auto work = [&](std::size_t which) {
    const ContextScope scope(shared);
    well[which] = all_is_well(product, expected, Precision::f32, 3) ? 1 : 0;
  };
  side_by_side({[&] { work(0); }, [&] { work(1); }});
  CHECK(well == std::vector<int>(2, 1));
}

TEST_CASE("contexts: threads without one share the default") {
  const Product product;
  const std::vector<Real> expected = product();
  std::vector<int> well(2, 0);
  const auto work = [&](std::size_t which) {
    well[which] = all_is_well(product, expected, Precision::f32, thread_count()) ? 1 : 0;
  };
  side_by_side({[&] { work(0); }, [&] { work(1); }});
  CHECK(well == std::vector<int>(2, 1));
}

TEST_CASE("contexts: an exception arrives in the thread whose task threw it") {
  const Context shared(3);
  std::vector<int> caught(2, 0);
  const auto work = [&](int which) {
    const ContextScope scope(shared);
    for (int repeat = 0; repeat < 100; ++repeat) {
      try {
        parallel_for(20, [&](Index i) {
          if (i == 7) throw which;
        });
      } catch (const int thrown) {
        caught[static_cast<std::size_t>(which)] += thrown == which ? 1 : 1000;
      }
    }
  };
  side_by_side({[&] { work(0); }, [&] { work(1); }});
  CHECK(caught == std::vector<int>(2, 100));
}

TEST_CASE("contexts: a simulation is that of its thread alone") {
  const Product product;
  const std::vector<Real> expected = product();
  const Context shared(2);
  bool computed = false;
  std::vector<int> simulated;
  side_by_side({[&] {
                  const ContextScope scope(shared);
                  for (int repeat = 0; repeat < 200; ++repeat) {
                    const Simulation simulation;
                    const Tensor large({30000, 30000});  // nobody touches its memory
                    large.fill(1);
                    parallel_for(9, [&](Index) { simulated.push_back(repeat); });
                  }
                },
                [&] {
                  const ContextScope scope(shared);
                  computed = all_is_well(product, expected, Precision::f32, 2);
                }});
  CHECK(computed);
  CHECK(simulated.empty());
}

TEST_CASE("contexts: every thread counts its own arithmetic, in profiles, too, and that of its tasks") {
  const Product product;
  const Context shared(3);
  std::vector<double> counted(2), profiled(2);
  const auto work = [&](std::size_t which) {
    const ContextScope scope(shared);
    const double before = matmul_flops();
    const Profile profile;
    for (std::size_t repeat = 0; repeat < 20 * (which + 1); ++repeat) {
      const Section section("products");
      (void)product();
      parallel_for(3, [&](Index) { (void)product(); });
    }
    counted[which] = matmul_flops() - before;
    profiled[which] = profile.entries().at(0).flops;
  };
  side_by_side({[&] { work(0); }, [&] { work(1); }});
  const std::vector<double> expected{80 * product.flops(), 160 * product.flops()};
  CHECK(counted == expected);
  CHECK(profiled == expected);
}
