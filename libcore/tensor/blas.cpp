#include "libcore/tensor/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "libcore/base/strings.hpp"
#include "libcore/tensor/math.hpp"

#ifdef OPENBLAS_VERSION
// Neither is in the header, and the first only in builds with threads.
extern "C" int blas_thread_shutdown_() __attribute__((weak));

// OpenBLAS asks it, when it is loaded, how many threads OPENBLAS_NUM_THREADS says; a program's own definition is found
// before the library's. If threads cannot be started, for lack of memory, OpenBLAS would wait for them forever,
// before main() begins. Weak, so that the library's own wins where it is linked statically.
extern "C" __attribute__((weak)) int openblas_num_threads_env() {
  return 1;
}
#endif

namespace heddle {

namespace {

// Our own threads run tiles side by side, so BLAS must not start any: its results would depend on how many.
void use_one_blas_thread() {
#ifdef OPENBLAS_VERSION
  static const bool done = (openblas_set_num_threads(1), true);
  static_cast<void>(done);
#endif
}

[[maybe_unused]] void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a,
                           int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

[[maybe_unused]] void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double* a,
                           int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace

void blas_serial(const MatrixView& a, const MatrixView& b, Real alpha, Real beta, Real* c, Index stride) {
  use_one_blas_thread();
  const auto order = [](const MatrixView& x) { return x.transposed ? CblasTrans : CblasNoTrans; };
  const auto step = [](Index of) { return static_cast<int>(std::max<Index>(1, of)); };  // 0 is refused
  gemm(order(a), order(b), static_cast<int>(a.rows), static_cast<int>(b.columns), static_cast<int>(a.columns), alpha,
       a.as<Real>(), step(a.stride), b.as<Real>(), step(b.stride), beta, c, step(stride));
}

void stop_blas_threads() {
#ifdef OPENBLAS_VERSION
  if (blas_thread_shutdown_ != nullptr) blas_thread_shutdown_();
#endif
}

BlasDescription describe_blas() {
#ifdef OPENBLAS_VERSION
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const std::vector<std::string> words = split(openblas_get_config(), ' ');
  return {words.size() > 1 ? words[0] + " " + words[1] : words[0], openblas_get_corename()};
#else
  return {"CBLAS", "unknown"};
#endif
}

std::optional<std::string> better_blas_kernel() {
#if defined(OPENBLAS_VERSION) && defined(__x86_64__)
  const std::string chosen = openblas_get_corename(), set = math::instruction_set();
  const std::array with_avx512{"SkylakeX", "Cooperlake", "SapphireRapids"};
  const std::array with_avx2{"Haswell", "Zen"};
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), chosen) != list.end(); };
  if (set == "avx512" && !in(with_avx512) && chosen != "Zen") return "SkylakeX";
  if (set == "avx2" && !in(with_avx2)) return "Haswell";
#endif
  return std::nullopt;
}

}  // namespace heddle
