// The checksum at the end of HDF5's structures: lookup3 by Bob Jenkins (2006, public domain), in its little-endian
// form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::formats::hdf5 {

std::uint32_t lookup3(std::span<const std::byte> bytes);

// Whether a structure, given without the checksum that ends it, matches the checksum. (Fuzzers replace this function by
// that of tests/fuzz/hdf5_checksums.cpp.)
bool is_sound(std::span<const std::byte> bytes, std::uint32_t checksum);

}  // namespace heddle::formats::hdf5
