#include "formats/hdf5/lookup3.hpp"

namespace heddle::formats::hdf5 {

bool is_sound(std::span<const std::byte> bytes, std::uint32_t checksum) {
  return lookup3(bytes) == checksum;
}

}  // namespace heddle::formats::hdf5
