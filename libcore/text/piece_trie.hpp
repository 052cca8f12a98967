// All pieces that a text begins with, one after the other: a trie of bytes in two arrays.
// Source: Aoe 1989, "An efficient digital search algorithm by using a double-array structure".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::text {

class PieceTrie {
 public:
  using Piece = std::pair<std::string_view, TokenId>;

  // The pieces must differ and not be empty; their numbers are not negative.
  explicit PieceTrie(std::vector<Piece> pieces);

  // Bytes of the longest piece.
  std::size_t longest() const { return longest_; }

  // Calls take(length, number) for every piece that text[begin, end) begins with, the shortest first.
  template <class Take>
  void for_each_prefix(std::string_view text, std::size_t begin, Take&& take) const {
    std::uint32_t node = 0;
    for (std::size_t at = begin; at < text.size(); ++at) {
      const std::uint32_t next = nodes_[node].base + static_cast<unsigned char>(text[at]);
      if (next >= nodes_.size() || nodes_[next].parent != node) return;
      node = next;
      if (nodes_[node].piece >= 0) take(at + 1 - begin, nodes_[node].piece);
    }
  }

 private:
  struct Node {
    std::uint32_t base = 0;  // the child by a byte is at base + byte, if that node says so
    std::uint32_t parent = none;
    TokenId piece = -1;
  };
  struct Task {  // the pieces [first, last) share `depth` bytes, which lead to the node
    std::uint32_t node;
    std::size_t first, last, depth;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  std::uint32_t place(std::span<const unsigned char> labels);

  std::vector<Node> nodes_;
  std::size_t longest_ = 0;
  std::size_t search_from_ = 1;  // few nodes are free before this one
};

}  // namespace heddle::text
