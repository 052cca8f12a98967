#include "heddle/text/tokenizer_model.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::text {

namespace {

class Fnv1a {
 public:
  void add(std::string_view item) {
    for (const char byte : item) mix(static_cast<unsigned char>(byte));
    mix(0);
  }
  void add(Index number) { add(std::to_string(number)); }

  template <class Item>
  void add_list(const std::vector<Item>& items) {
    add(static_cast<Index>(items.size()));
    for (const Item& item : items) add(item);
  }

  std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash_ >> shift & 15];
    return digits;
  }

 private:
  void mix(std::uint64_t byte) { hash_ = (hash_ ^ byte) * 0x100000001B3u; }

  std::uint64_t hash_ = 0xCBF29CE484222325u;
};

}  // namespace

std::string fingerprint(const TokenizerModel& model) {
  Fnv1a hash;
  hash.add(to_text(model.kind));
  hash.add_list(model.pieces);
  hash.add_list(model.merges);
  hash.add_list(model.special_tokens);
  hash.add(model.unknown);
  hash.add(model.end_of_text);
  const std::array<Index, 6> later = {model.classification, model.separator, model.mask,
                                      model.padding,        model.lowercase, model.strip_accents};
  if (later != std::array<Index, 6>{-1, -1, -1, -1, 0, 0}) {
    for (const Index item : later) hash.add(item);
  }
  return hash.text();
}

}  // namespace heddle::text
