// Reads the PNG files that the tools write: 8-bit grey or RGB, not interlaced.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::testing {

class Png {
 public:
  using Pixel = std::array<int, 3>;

  // Checks the signature, the chunks' checksums and lengths, and the end; throws std::runtime_error.
  explicit Png(const std::string& bytes) {
    require(bytes.starts_with("\x89PNG\r\n\x1a\n"), "signature");
    std::string packed;
    bool ended = false;
    for (std::size_t at = 8; at < bytes.size();) {
      const std::size_t length = number(bytes, at);
      require(!ended && at + 12 + length <= bytes.size(), "length of a chunk");
      const std::string type = bytes.substr(at + 4, 4), data = bytes.substr(at + 8, length);
      const auto* const checked = reinterpret_cast<const Bytef*>(bytes.data()) + at + 4;
      require(crc32(0, checked, static_cast<uInt>(length + 4)) == number(bytes, at + 8 + length), "checksum");
      if (type == "IHDR") read_header(data);
      if (type == "IDAT") packed += data;
      ended = type == "IEND";
      at += 12 + length;
    }
    require(ended, "end");
    unpack(packed);
  }

  std::size_t width() const { return width_; }
  std::size_t height() const { return height_; }
  bool is_grey() const { return channels_ == 1; }
  Pixel at(std::size_t x, std::size_t y) const {
    const std::size_t begin = (y * width_ + x) * channels_;
    require(x < width_ && y < height_, "place");
    const std::size_t next = channels_ == 1 ? 0 : 1;
    return {pixels_[begin], pixels_[begin + next], pixels_[begin + 2 * next]};
  }

 private:
  static void require(bool condition, const char* what) {
    if (!condition) throw std::runtime_error(std::string("not a good PNG: ") + what);
  }
  static std::size_t number(const std::string& bytes, std::size_t at) {
    require(at + 4 <= bytes.size(), "truncated");
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  }

  void read_header(const std::string& data) {
    width_ = number(data, 0);
    height_ = number(data, 4);
    require(data.size() == 13 && data[8] == 8 && (data[9] == 0 || data[9] == 2) && data[12] == 0, "kind");
    channels_ = data[9] == 0 ? 1 : 3;
  }

  // Each row begins with the filter that its bytes went through.
  void unpack(const std::string& packed) {
    const std::size_t row = width_ * channels_;
    std::vector<unsigned char> raw(height_ * (row + 1));
    uLongf size = raw.size();
    const auto* const data = reinterpret_cast<const Bytef*>(packed.data());
    require(uncompress(raw.data(), &size, data, packed.size()) == Z_OK && size == raw.size(), "data");
    pixels_.assign(height_ * row, 0);
    for (std::size_t y = 0; y < height_; ++y) {
      const unsigned char* const in = raw.data() + y * (row + 1);
      for (std::size_t x = 0; x < row; ++x) {
        const int left = x < channels_ ? 0 : pixels_[y * row + x - channels_];
        const int above = y == 0 ? 0 : pixels_[(y - 1) * row + x];
        const int corner = x < channels_ || y == 0 ? 0 : pixels_[(y - 1) * row + x - channels_];
        pixels_[y * row + x] = static_cast<unsigned char>(in[x + 1] + predicted(in[0], left, above, corner));
      }
    }
  }
  static int predicted(int filter, int left, int above, int corner) {
    switch (filter) {
      case 0:
        return 0;
      case 1:
        return left;
      case 2:
        return above;
      case 3:
        return (left + above) / 2;
      default:
        return nearest_to(left + above - corner, left, above, corner);
    }
  }
  // Paeth's predictor.
  static int nearest_to(int sum, int left, int above, int corner) {
    const int a = std::abs(sum - left), b = std::abs(sum - above), c = std::abs(sum - corner);
    if (a <= b && a <= c) return left;
    return b <= c ? above : corner;
  }

  std::size_t width_ = 0, height_ = 0, channels_ = 3;
  std::vector<unsigned char> pixels_;
};

}  // namespace heddle::testing
