#include "tools/drawing/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <vector>

#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index band_bytes = 1 << 20;  // compressed at a time

std::string big_endian(uLong number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

const Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

std::string chunk(std::string_view type, std::string_view data) {
  std::string checked(type);
  checked += data;
  return big_endian(data.size()) + checked + big_endian(crc32(0, bytes_of(checked), static_cast<uInt>(checked.size())));
}

bool is_grey(const std::uint32_t* pixels, Index count) {
  std::uint32_t difference = 0;
  for (Index i = 0; i < count; ++i) difference |= (pixels[i] ^ pixels[i] >> 8) & 0xFFFF;
  return difference == 0;
}

bool are_grey(const PixelRows& pixels) {
  std::atomic<bool> grey = true;
  parallel_ranges(pixels.height, 64, [&](Index begin, Index end) {
    for (Index y = begin; y < end && grey; ++y) {
      if (!is_grey(pixels.row(y), pixels.width)) grey = false;
    }
  });
  return grey;
}

// Each row begins with the number of its filter: none, which is the best for large areas of one colour.
std::string raw_rows(const PixelRows& pixels, Index begin, Index end, Index channels) {
  std::string bytes(static_cast<std::size_t>((end - begin) * (1 + channels * pixels.width)), '\0');
  char* out = bytes.data();
  for (Index y = begin; y < end; ++y) {
    ++out;
    const std::uint32_t* const row = pixels.row(y);
    if (channels == 1) {
      for (Index x = 0; x < pixels.width; ++x) *out++ = static_cast<char>(row[x]);
    } else {
      for (Index x = 0; x < pixels.width; ++x) {
        for (const int shift : {16, 8, 0}) *out++ = static_cast<char>(row[x] >> shift);
      }
    }
  }
  return bytes;
}

struct Band {
  std::string chunk;
  uLong checksum;
  z_off_t bytes;
};

}  // namespace

std::string png_of(const PixelRows& pixels, Deflate method) {
  const Index channels = are_grey(pixels) ? 1 : 3;
  const Index rows = std::max<Index>(1, band_bytes / (1 + channels * pixels.width));
  std::vector<Band> bands(static_cast<std::size_t>((pixels.height + rows - 1) / rows));
  parallel_ranges(pixels.height, rows, [&](Index begin, Index end) {
    const std::string raw = raw_rows(pixels, begin, end, channels);
    bands[static_cast<std::size_t>(begin / rows)] = {
        chunk("IDAT", deflated_part(raw, method, end == pixels.height)),
        adler32(adler32(0, nullptr, 0), bytes_of(raw), static_cast<uInt>(raw.size())), std::ssize(raw)};
  });
  const char depth_and_kind[] = {8, static_cast<char>(channels == 1 ? 0 : 2), 0, 0, 0};
  std::string png = "\x89PNG\r\n\x1a\n";
  png += chunk("IHDR", big_endian(static_cast<uLong>(pixels.width)) + big_endian(static_cast<uLong>(pixels.height)) +
                           std::string(std::begin(depth_and_kind), std::end(depth_and_kind)));
  // The chunks' data are one zlib stream: its header, the bands, and the checksum of all their bytes.
  png += chunk("IDAT", "\x78\x01");
  uLong checksum = adler32(0, nullptr, 0);
  for (const Band& band : bands) {
    png += band.chunk;
    checksum = adler32_combine(checksum, band.checksum, band.bytes);
  }
  return png + chunk("IDAT", big_endian(checksum)) + chunk("IEND", "");
}

}  // namespace heddle
