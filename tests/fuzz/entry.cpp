// Entry point for libFuzzer, for the target named by HEDDLE_FUZZ_TARGET_NAME.
#include <cstddef>
#include <cstdint>

#include "fuzz/hdf5_checksums.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const heddle::fuzz::TrustedChecksums trusted;
  heddle::fuzz::HEDDLE_FUZZ_TARGET_NAME({reinterpret_cast<const char*>(data), size});
  return 0;
}
