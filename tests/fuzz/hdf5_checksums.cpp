#include "fuzz/hdf5_checksums.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

int trusting = 0;

}  // namespace

// HDF5's own functions, exported by its library. The one that this program has takes the place of the library's.
extern "C" std::uint32_t H5_checksum_metadata(const void* data, std::size_t size, std::uint32_t start);

// A structure with its checksum at the end: what it says, and what it should say.
extern "C" int H5F_get_checksums(const std::uint8_t* bytes, std::size_t size, std::uint32_t* stored,
                                 std::uint32_t* computed) {
  std::uint32_t found = 0;
  if (size < sizeof found) return 0;
  std::memcpy(&found, bytes + size - sizeof found, sizeof found);  // both are little-endian
  if (stored != nullptr) *stored = found;
  if (computed != nullptr) *computed = trusting > 0 ? found : H5_checksum_metadata(bytes, size - sizeof found, 0);
  return 0;
}

namespace heddle::fuzz {

TrustedChecksums::TrustedChecksums() {
  ++trusting;
}
TrustedChecksums::~TrustedChecksums() {
  --trusting;
}

}  // namespace heddle::fuzz
