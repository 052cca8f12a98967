#include "tools/drawing/deflate.hpp"

#include <zlib.h>

#include "libcore/base/error.hpp"

namespace heddle {

namespace {

// window_bits are negative of a stream without header and checksum.
std::string compressed(std::string_view bytes, Deflate method, int window_bits, int flush) {
  constexpr int most_memory = 9;
  z_stream stream{};
  const bool runs = method == Deflate::runs;
  const int opened = deflateInit2(&stream, runs ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits,
                                  most_memory, runs ? Z_RLE : Z_DEFAULT_STRATEGY);
  check<Error>(opened == Z_OK, "zlib has no memory");
  constexpr uLong flush_room = 16;  // for the empty block of a flush
  std::string result(deflateBound(&stream, bytes.size()) + flush_room, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int status = ::deflate(&stream, flush);
  result.resize(stream.total_out);
  const bool done = stream.avail_in == 0 && status == (flush == Z_FINISH ? Z_STREAM_END : Z_OK);
  deflateEnd(&stream);
  check<Error>(done, "zlib cannot compress ", bytes.size(), " bytes");
  return result;
}

}  // namespace

std::string deflated(std::string_view bytes, Deflate method) {
  return compressed(bytes, method, MAX_WBITS, Z_FINISH);
}

std::string deflated_part(std::string_view bytes, Deflate method, bool is_last) {
  return compressed(bytes, method, -MAX_WBITS, is_last ? Z_FINISH : Z_SYNC_FLUSH);
}

}  // namespace heddle
