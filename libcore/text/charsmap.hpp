// SentencePiece's normalisation: at each place of a text the longest key that stands there is replaced; other
// characters stay. The compiled map is a trie of bytes, Darts-clone's double array, and the replacements it points to,
// each ended by a zero byte. Hugging Face's reading of such maps, which goes by grapheme clusters, differs for some
// clusters of several characters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/origin.hpp"

namespace heddle::text {

inline constexpr std::array ascii_blanks{' ', '\t', '\n', '\r'};
inline bool is_ascii_blank(char byte) {
  return std::ranges::find(ascii_blanks, byte) != ascii_blanks.end();
}

class Charsmap {
 public:
  // The number of bytes of the trie (4, little-endian), the trie, the replacements. Throws DataError where the map is
  // damaged, has keys with blanks among other characters (words between blanks are normalised apart), or has keys or
  // replacements that are so long that a text takes a multiple of its size in time or memory.
  explicit Charsmap(std::string_view map);

  // Appends the normalised text and, if wanted, the origin of each of its bytes.
  void apply(std::string_view text, std::string& normalised, std::vector<Origin>* origins = nullptr) const;

 private:
  void check_replacements() const;
  void check_keys() const;
  std::size_t child(std::size_t node, unsigned char label) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace heddle::text
