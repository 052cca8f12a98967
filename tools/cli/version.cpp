#include "heddle/cli/version.hpp"

#include <H5public.h>

#include <boost/version.hpp>
#include <cstdlib>

#include "heddle/base/error.hpp"
#include "heddle/tensor/blas.hpp"
#include "heddle/tensor/math.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle::cli {

std::string version() {
  return HEDDLE_VERSION;
}

std::string engine() {
  const BlasDescription blas = describe_blas();
  const char* chosen = std::getenv("OPENBLAS_CORETYPE");
  const std::optional<std::string> better = better_blas_kernel();
  const std::string note = chosen == nullptr ? ""
                           : !better         ? " by OPENBLAS_CORETYPE"
                                     : " by OPENBLAS_CORETYPE, though " + *better + " would be faster";
  return concatenate("products: f32 ", f32_unit(), ", bf16 ", bf16_unit(), "; ", blas.library, " (kernel ", blas.kernel,
                     note, "), instruction set ", math::instruction_set());
}

std::string version_text(const std::string& tool) {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  const BlasDescription blas = describe_blas();
  return concatenate(tool, " (heddle) ", version(), "\nBLAS: ", blas.library, ", kernel ", blas.kernel,
                     "\nHDF5: ", major, ".", minor, ".", release, "\nBoost: ", BOOST_VERSION / 100000, ".",
                     BOOST_VERSION / 100 % 1000, ".", BOOST_VERSION % 100,
                     "\ninstruction set: ", math::instruction_set(), "\nmatrix products: f32 ", f32_unit(), ", bf16 ",
                     bf16_unit(), "\n");
}

}  // namespace heddle::cli
