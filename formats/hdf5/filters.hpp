// The filters of chunks: shuffle stores the first bytes of all elements, then all second bytes, and so on; deflate (RFC
// 1950) compresses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace heddle::formats::hdf5 {

// Throws DataError unless the bytes decompress to exactly this number.
std::vector<std::byte> inflate(std::span<const std::byte> bytes, std::size_t size, const std::string& where);

// Bytes after the last whole element, which chunks do not have, stay unchanged.
std::vector<std::byte> unshuffle(std::span<const std::byte> bytes, std::size_t width);

}  // namespace heddle::formats::hdf5
