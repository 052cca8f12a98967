#include "libcore/text/piece_trie.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle::text {

PieceTrie::PieceTrie(std::vector<Piece> pieces) : nodes_(1) {
  std::ranges::sort(pieces);
  for (const auto& [piece, number] : pieces) longest_ = std::max(longest_, piece.size());
  nodes_[0].parent = 0;
  std::vector<Task> tasks{{0, 0, pieces.size(), 0}};
  std::vector<unsigned char> labels;
  std::vector<std::size_t> starts;
  while (!tasks.empty()) {
    auto [node, first, last, depth] = tasks.back();
    tasks.pop_back();
    if (first < last && pieces[first].first.size() == depth) nodes_[node].piece = pieces[first++].second;
    labels.clear();
    starts.clear();
    for (std::size_t i = first; i < last; ++i) {
      const auto label = static_cast<unsigned char>(pieces[i].first[depth]);
      if (!labels.empty() && labels.back() == label) continue;
      labels.push_back(label);
      starts.push_back(i);
    }
    if (labels.empty()) continue;
    const std::uint32_t base = place(labels);
    nodes_[node].base = base;
    starts.push_back(last);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      nodes_[base + labels[i]].parent = node;
      tasks.push_back({base + labels[i], starts[i], starts[i + 1], depth + 1});
    }
  }
}

// The first base with free nodes for all labels. Where most nodes are taken the next search begins further on.
std::uint32_t PieceTrie::place(std::span<const unsigned char> labels) {
  std::size_t taken = 0;
  bool has_begin = false;
  const std::size_t begin = std::max<std::size_t>(search_from_, std::size_t{labels.front()} + 1);
  for (std::size_t at = begin;; ++at) {
    if (at + 256 >= nodes_.size()) nodes_.resize(std::max(2 * nodes_.size(), at + 512));
    if (nodes_[at].parent != none) {
      ++taken;
      continue;
    }
    if (!has_begin && at > search_from_ && begin == search_from_) search_from_ = at;
    has_begin = true;
    const std::size_t base = at - labels.front();
    const auto is_free = [&](unsigned char label) { return nodes_[base + label].parent == none; };
    if (!std::ranges::all_of(labels, is_free)) continue;
    if (20 * taken > 19 * (at - begin + 1)) search_from_ = std::max(search_from_, at);
    check<DataError>(nodes_.size() < none, "the tokenizer has more pieces than fit into its index");
    return static_cast<std::uint32_t>(base);
  }
}

}  // namespace heddle::text
