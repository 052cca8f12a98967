// Models of SentencePiece as tests make them: the bytes of protocol buffers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace heddle::tests::proto {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string number(int field, std::int64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
}
inline std::string bytes(int field, const std::string& value) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(value.size()) + value;
}
inline std::string real(int field, float value) {
  char raw[4];
  std::memcpy(raw, &value, sizeof raw);
  return varint(static_cast<std::uint64_t>(field) << 3 | 5) + std::string(raw, sizeof raw);
}

inline constexpr int normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6;

inline std::string piece(const std::string& text, float score = -1, int type = normal) {
  return bytes(1, bytes(1, text) + real(2, score) + (type == normal ? "" : number(3, type)));
}

// <unk>, <s>, </s> and pieces of words.
inline std::string pieces() {
  return piece("<unk>", 0, unknown) + piece("<s>", 0, control) + piece("</s>", 0, control) + piece("\u2581", -2) +
         piece("\u2581a", -1) + piece("b", -3) + piece("a", -3.5F) + piece("\u2581ab", -1.5F);
}

}  // namespace heddle::tests::proto
