#include "formats/files/content_type.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n"sv;

struct Signature {
  std::string_view bytes;
  const char* guess;
  std::size_t at = 0;
};
// Text does not begin like this; it could begin like bzip2's first bytes, "BZh" and a digit.
constexpr std::array compressions{
    Signature{"\x1f\x8b\x08"sv, "is compressed with gzip; decompress it first"},
    Signature{"1AY&SY"sv, "is compressed with bzip2; decompress it first", 4},
    Signature{"\xfd"
              "7zXZ\0"sv,
              "is compressed with xz; decompress it first"},
    Signature{"\x28\xb5\x2f\xfd"sv, "is compressed with zstd; decompress it first"},
};
constexpr std::array signatures{
    Signature{"PK\3\4"sv, "is a zip archive (PyTorch's checkpoints are), not a heddle file"},
    Signature{"GGUF"sv, "is a GGUF file; convert makes a heddle file of GPT-2's"},
    Signature{"\x7f"
              "ELF"sv,
              "is a program, not a heddle file"},
};

// The matching entry of the list, or nullptr.
const char* find(std::span<const Signature> list, std::string_view bytes) {
  const auto found = std::ranges::find_if(
      list, [&](const Signature& one) { return bytes.substr(std::min(one.at, bytes.size())).starts_with(one.bytes); });
  return found == list.end() ? nullptr : found->guess;
}

std::string first_bytes(const Descriptor& file) {
  std::string bytes(4096, '\0');
  bytes.resize(file.read_at(0, bytes.data(), bytes.size()));
  return bytes;
}

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x20 && letter != '\t' && letter != '\n' && letter != '\r' && letter != '\f';
}

}  // namespace

bool begins_like_hdf5(std::string_view first_bytes) {
  return first_bytes.starts_with(hdf5_signature);
}

bool looks_like_hdf5(const Descriptor& file) {
  return begins_like_hdf5(first_bytes(file));
}

bool looks_like_hdf5(const std::string& path) {
  return looks_like_hdf5(Descriptor::open_for_reading(path));
}

bool looks_like_gguf(const Descriptor& file) {
  return first_bytes(file).starts_with("GGUF");
}

bool looks_like_json(const Descriptor& file) {
  const std::string bytes = first_bytes(file);
  const std::string_view text = without_byte_order_mark(bytes);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != text.npos && text[begin] == '{';
}

void check_uncompressed(std::string_view first_bytes, const std::string& name) {
  if (const char* const guess = find(compressions, first_bytes)) throw DataError(name + ": " + guess);
}

std::string guess_content(const Descriptor& file) {
  std::string bytes = first_bytes(file);
  if (bytes.empty()) return "is empty";
  if (const char* const guess = find(compressions, bytes)) return guess;
  if (const char* const guess = find(signatures, bytes)) return guess;
  // Safetensors: the length of a JSON header in eight bytes, then the header.
  if (bytes.size() > 8 && bytes[7] == '\0' && bytes[8] == '{') return "is a safetensors file, not a heddle file";
  if (std::all_of(bytes.begin(), bytes.end(), [](char letter) { return letter == '\0'; })) {
    return "contains only zeros; writing it was perhaps cut short";
  }
  if (std::none_of(bytes.begin(), bytes.end(), is_control)) {
    // The last character, of up to four bytes, may continue beyond what was read.
    for (int cut = 0; cut < 3 && !bytes.empty() && !is_utf8(bytes); ++cut) bytes.pop_back();
    if (is_utf8(bytes)) {
      return bytes.front() == '{' || bytes.front() == '[' ? "is JSON, not a heddle file"
                                                          : "is plain text, not a heddle file";
    }
  }
  return "is not a heddle file";
}

}  // namespace heddle::formats
