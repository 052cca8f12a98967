#include "libcore/base/random.hpp"

namespace heddle {

namespace {

// The finaliser of SplitMix64: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t random_site(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ull;
  return mix(hash);
}

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t site, std::uint64_t step) {
  const std::uint64_t key = mix(mix(seed + 0x9E3779B97F4A7C15ull) ^ site);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  step_ = {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)};
}

std::uint64_t RandomStream::below(std::uint64_t index, std::uint64_t bound) const {
  const auto words = block(index);
  const std::uint64_t bits = static_cast<std::uint64_t>(words[0]) << 32 | words[1];
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

}  // namespace heddle
