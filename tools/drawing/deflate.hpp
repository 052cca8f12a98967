// Compression by zlib.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// Repeats are found at any earlier place (thorough), or only as runs of a byte (runs). Runs take a fifth of the time,
// and attention weights about the same space.
enum class Deflate { thorough, runs };

// Bytes as a zlib stream.
std::string deflated(std::string_view bytes, Deflate method);

// Bytes as a part of a stream that has only its blocks: without a header and a checksum, which are the caller's. Parts
// made independently of each other form a stream, the last of which ends it.
std::string deflated_part(std::string_view bytes, Deflate method, bool is_last);

}  // namespace heddle
