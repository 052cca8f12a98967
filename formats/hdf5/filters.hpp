// How chunks are made smaller: shuffle puts first bytes of all elements first, then all second bytes, and so on;
// deflate (RFC 1950) compresses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace heddle::formats::hdf5 {

// Throws DataError unless the bytes decompress to just so many.
std::vector<std::byte> inflate(std::span<const std::byte> bytes, std::size_t size, const std::string& where);

// Bytes beyond whole elements, which a chunk does not have, stay where they are.
std::vector<std::byte> unshuffle(std::span<const std::byte> bytes, std::size_t width);

}  // namespace heddle::formats::hdf5
