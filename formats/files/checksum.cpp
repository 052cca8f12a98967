#include "formats/files/checksum.hpp"

#include <xxhash.h>

#include <array>
#include <new>
#include <vector>

#include "formats/files/descriptor.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

void Checksum::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

Checksum::Checksum() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void Checksum::add(const void* bytes, std::size_t count) {
  if (count > 0) XXH3_128bits_update(state_.get(), bytes, count);
}

std::string Checksum::text() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
  std::string digits;
  for (const unsigned char byte : canonical.digest) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

std::string checksum_of(const void* bytes, std::size_t count) {
  Checksum checksum;
  checksum.add(bytes, count);
  return checksum.text();
}

FileChecksum checksum_file(const std::string& path) {
  const Descriptor file = Descriptor::open_for_reading(path);
  Checksum checksum;
  FileChecksum result;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const std::size_t count = file.read_at(result.size, buffer.data(), buffer.size());
    if (count == 0) break;
    checksum.add(buffer.data(), count);
    result.size += static_cast<Index>(count);
  }
  result.xxh128 = checksum.text();
  return result;
}

}  // namespace heddle::formats
