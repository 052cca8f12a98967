#include "heddle/cli/version.hpp"

#include <H5public.h>

#include <boost/version.hpp>

#include "heddle/base/error.hpp"
#include "heddle/tensor/blas.hpp"
#include "heddle/tensor/math.hpp"

namespace heddle::cli {

std::string version() {
  return HEDDLE_VERSION;
}

std::string engine() {
  const BlasDescription blas = describe_blas();
  return concatenate(blas.library, " (kernel ", blas.kernel, "), instruction set ", math::instruction_set());
}

std::string version_text(const std::string& tool) {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  const BlasDescription blas = describe_blas();
  return concatenate(tool, " (heddle) ", version(), "\nBLAS: ", blas.library, ", kernel ", blas.kernel,
                     "\nHDF5: ", major, ".", minor, ".", release, "\nBoost: ", BOOST_VERSION / 100000, ".",
                     BOOST_VERSION / 100 % 1000, ".", BOOST_VERSION % 100,
                     "\ninstruction set: ", math::instruction_set(), "\n");
}

}  // namespace heddle::cli
