#include "tools/cli/version.hpp"

#include <boost/version.hpp>
#include <cstdlib>
#include <cstring>

#include "formats/hdf5/writer.hpp"
#include "libcore/base/error.hpp"
#include "libcore/tensor/blas.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/storage_format.hpp"

namespace heddle::cli {

std::string version() {
  return HEDDLE_VERSION;
}

namespace {

// A note if the user's OPENBLAS_CORETYPE was not used, or makes the BLAS slower.
std::string note_on_kernel(const std::string& kernel) {
  const char* wanted = std::getenv("OPENBLAS_CORETYPE");
  if (wanted == nullptr || std::getenv(kernel_marker) != nullptr) return "";
  if (strcasecmp(wanted, kernel.c_str()) != 0) {
    return concatenate(", not '", wanted, "', set by OPENBLAS_CORETYPE, which OpenBLAS does not support here");
  }
  const std::optional<std::string> better = f32_unit() == "BLAS" ? better_blas_kernel() : std::nullopt;
  return " by OPENBLAS_CORETYPE" + (better ? ", though " + *better + " is faster" : "");
}

std::string compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string engine() {
  const BlasDescription blas = describe_blas();
  return concatenate("products: f32 ", f32_unit(), ", bf16 ", bf16_unit(), ", integers ", integer_unit(), "; ",
                     blas.name, " (kernel ", blas.kernel, note_on_kernel(blas.kernel), "), instruction set ",
                     math::instruction_set());
}

std::string version_text(const std::string& tool) {
  const BlasDescription blas = describe_blas();
  return concatenate(tool, " (heddle) ", version(), "\nBLAS: ", blas.name, ", kernel ", blas.kernel,
                     "\nHDF5: ", formats::hdf5::library_version(), "\nBoost: ", BOOST_VERSION / 100000, ".",
                     BOOST_VERSION / 100 % 1000, ".", BOOST_VERSION % 100, "\ncompiler: ", compiler(),
                     "\ninstruction set: ", math::instruction_set(), "\nmatrix products: f32 ", f32_unit(), ", bf16 ",
                     bf16_unit(), ", integers ", integer_unit(), "\n");
}

}  // namespace heddle::cli
