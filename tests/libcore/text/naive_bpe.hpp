// Byte-pair encoding as its definition reads, to compare with.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::text {

using Pieces = std::vector<std::string>;

inline Pieces bytes_of(const std::string& word) {
  Pieces pieces;
  for (const char byte : word) pieces.emplace_back(1, byte);
  return pieces;
}

inline void merge_everywhere(Pieces& word, const std::pair<std::string, std::string>& pair) {
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    if (word[i] != pair.first || word[i + 1] != pair.second) continue;
    word[i] += word[i + 1];
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// Counts all pairs of all words anew for every merge.
inline std::vector<std::pair<std::string, std::string>> naive_merges(const std::map<std::string, Index>& words,
                                                                     std::size_t limit, Index minimum_count) {
  std::vector<std::pair<Pieces, Index>> corpus;
  for (const auto& [word, count] : words) corpus.emplace_back(bytes_of(word), count);
  std::vector<std::pair<std::string, std::string>> merges;
  while (merges.size() < limit) {
    std::map<std::pair<std::string, std::string>, Index> counts;
    for (const auto& [word, count] : corpus) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) counts[{word[i], word[i + 1]}] += count;
    }
    // The first of the most frequent ones; the map is in order of bytes.
    const auto best = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    if (best == counts.end() || best->second < minimum_count) break;
    merges.push_back(best->first);
    for (auto& [word, count] : corpus) merge_everywhere(word, merges.back());
  }
  return merges;
}

// Applies the merge of lowest rank, at its leftmost place, until none applies.
inline Pieces naive_encode(const std::string& text, const std::vector<std::pair<std::string, std::string>>& merges) {
  Pieces word = bytes_of(text);
  for (;;) {
    std::size_t best_rank = merges.size(), best = 0;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      const auto found = std::ranges::find(merges, std::pair(word[i], word[i + 1]));
      const auto rank = static_cast<std::size_t>(found - merges.begin());
      if (rank < best_rank) std::tie(best_rank, best) = std::pair(rank, i);
    }
    if (best_rank == merges.size()) return word;
    word[best] += word[best + 1];
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace heddle::text
