#include "formats/hdf5/lookup3.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace heddle::formats::hdf5 {

namespace {

using State = std::array<std::uint32_t, 3>;

// Twelve bytes, the missing ones zero, are added to the state.
void add(State& state, std::span<const std::byte> bytes) {
  State words{};
  std::memcpy(words.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += words[i];
}

void mix(State& state) {
  auto& [a, b, c] = state;
  a -= c, a ^= std::rotl(c, 4), c += b;
  b -= a, b ^= std::rotl(a, 6), a += c;
  c -= b, c ^= std::rotl(b, 8), b += a;
  a -= c, a ^= std::rotl(c, 16), c += b;
  b -= a, b ^= std::rotl(a, 19), a += c;
  c -= b, c ^= std::rotl(b, 4), b += a;
}

void finish(State& state) {
  auto& [a, b, c] = state;
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
}

}  // namespace

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  constexpr std::size_t block = 12;
  State state;
  state.fill(0xdeadbeef + static_cast<std::uint32_t>(bytes.size()));
  for (; bytes.size() > block; bytes = bytes.subspan(block)) {
    add(state, bytes.first(block));
    mix(state);
  }
  if (!bytes.empty()) {
    add(state, bytes);
    finish(state);
  }
  return state[2];
}

}  // namespace heddle::formats::hdf5
