// Checksums: XXH3 with 128 bits for data sets, whole files and streams alike. One hash for everything: it detects
// accidental damage, not forgery, is faster than any disk, and can be recomputed by other programs (xxh128sum FILE, or
// xxhash.xxh3_128(array).hexdigest() in Python).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "libcore/base/real.hpp"

struct XXH3_state_s;

namespace heddle::formats {

// The hash of bytes that arrive in pieces.
class Checksum {
 public:
  Checksum();
  void add(const void* bytes, std::size_t count);
  std::string text() const;  // 32 hexadecimal digits, of what was added so far

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

std::string checksum_of(const void* bytes, std::size_t count);

struct FileChecksum {
  Index size = 0;  // bytes
  std::string xxh128;
};

// Reads the whole file. Throws DataError when it cannot be read.
FileChecksum checksum_file(const std::string& path);

}  // namespace heddle::formats
