// What libFuzzer calls, for the one target that HEDDLE_FUZZ_TARGET_NAME says.
#include <cstddef>
#include <cstdint>

#include "fuzz/hdf5_checksums.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const heddle::fuzz::TrustedChecksums trusted;
  heddle::fuzz::HEDDLE_FUZZ_TARGET_NAME({reinterpret_cast<const char*>(data), size});
  return 0;
}
