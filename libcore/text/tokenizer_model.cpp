#include "libcore/text/tokenizer_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace heddle::text {

namespace {

// Fields of the first fingerprints; later fields count only if they are set.
constexpr std::array<std::string_view, 12> first_fields = {"kind",    "pieces",      "merges",         "special_tokens",
                                                           "unknown", "end_of_text", "classification", "separator",
                                                           "mask",    "padding",     "lowercase",      "strip_accents"};

class Fnv1a {
 public:
  void add(std::string_view item) {
    for (const char byte : item) mix(static_cast<unsigned char>(byte));
    mix(0);
  }
  void add(Index number) { add(std::to_string(number)); }
  void add(bool flag) { add(Index{flag}); }
  void add(double number) {
    std::array<char, 32> digits;
    add(std::string_view(digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr));
  }
  void add(TokenizerKind kind) { add(to_text(kind)); }

  template <class Item>
  void add(const std::vector<Item>& items) {
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

template <class T>
std::string value_fingerprint(const T& value) {
  Fnv1a hash;
  hash.add(value);
  return hash.text();
}

}  // namespace

std::string fingerprint(const TokenizerModel& model) {
  Fnv1a hash;
  hash.add(to_text(model.kind));
  hash.add(model.pieces);
  hash.add(model.merges);
  hash.add(model.special_tokens);
  hash.add(model.unknown);
  hash.add(model.end_of_text);
  const std::array<Index, 6> later = {model.classification, model.separator, model.mask,
                                      model.padding,        model.lowercase, model.strip_accents};
  if (later != std::array<Index, 6>{-1, -1, -1, -1, 0, 0}) {
    for (const Index item : later) hash.add(item);
  }
  std::vector<std::string> defaults;
  const auto note_default = [&](const Field&, const auto& value) { defaults.push_back(value_fingerprint(value)); };
  const TokenizerModel unchanged;
  visit_fields(unchanged, note_default);
  std::size_t at = 0;
  const auto add_later = [&](const Field& field, const auto& value) {
    const bool is_default = value_fingerprint(value) == defaults[at++];
    if (is_default || std::ranges::find(first_fields, field.name) != first_fields.end()) return;
    hash.add(field.name);
    hash.add(value);
  };
  visit_fields(model, add_later);
  return hash.text();
}

}  // namespace heddle::text
