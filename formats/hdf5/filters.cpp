#include "formats/hdf5/filters.hpp"

#include <zlib.h>

#include <algorithm>

#include "formats/hdf5/structure.hpp"

namespace heddle::formats::hdf5 {

std::vector<std::byte> inflate(std::span<const std::byte> bytes, std::size_t size, const std::string& where) {
  std::vector<std::byte> whole(size);
  uLongf found = static_cast<uLongf>(size);
  const int status = ::uncompress(reinterpret_cast<Bytef*>(whole.data()), &found,
                                  reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  if (status != Z_OK || found != size) fail_damaged(where, "has a chunk that does not decompress");
  return whole;
}

std::vector<std::byte> unshuffle(std::span<const std::byte> bytes, std::size_t width) {
  std::vector<std::byte> elements(bytes.begin(), bytes.end());
  const std::size_t count = bytes.size() / width;
  for (std::size_t place = 0; place < width; ++place) {
    for (std::size_t i = 0; i < count; ++i) elements[i * width + place] = bytes[place * count + i];
  }
  return elements;
}

}  // namespace heddle::formats::hdf5
