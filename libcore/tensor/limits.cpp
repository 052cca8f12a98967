#include "libcore/tensor/limits.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "libcore/tensor/matmul.hpp"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double measure_matmul_rate(Precision precision) {
  const PrecisionScope scope(precision);
  constexpr Index n = 1024;
  const Tensor a({n, n}, activation_dtype()), b({n, n}, activation_dtype()), c({n, n}, activation_dtype());
  a.fill(Real(0.5));
  b.fill(Real(0.25));
  // Six times where that is soon done.
  constexpr double enough = 0.1;
  std::vector<double> seconds;
  double all = 0;
  while (seconds.size() < 3 || (seconds.size() < 6 && all < enough)) {
    seconds.push_back(seconds_of([&] { matmul(matrix(a), matrix(b), target(c)); }));
    all += seconds.back();
  }
  std::sort(seconds.begin(), seconds.end());
  return 2.0 * n * n * n / seconds[1];
}

double measure_memory_rate() {
  const Tensor block({Index{1} << 25}, Real(1));
  const double seconds = seconds_of([&] { block.scale(Real(0.5)); });
  return 2.0 * static_cast<double>(block.bytes()) / seconds;
}

}  // namespace heddle
