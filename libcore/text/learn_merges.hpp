// Learns the merges of a byte-pair encoding from counted words.
//
// Repeatedly merges the most frequent adjacent pair of pieces everywhere, from left to right. Ties go to the pair whose
// left piece has the smaller bytes, then to the one whose right piece has. The result depends on the words and their
// counts alone, not on their order. Source: Sennrich et al. 2016, "Neural machine translation of rare words with
// subword units", algorithm 1. Cost: O(n log n) in the bytes of the different words, with memory of about 30 times
// those bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/string_table.hpp"

namespace heddle::text {

// The pieces of words before any merge; bytes by default.
struct Alphabet {
  std::vector<std::string> pieces;
  // Appends the numbers of a word's pieces; the word is ignored if nothing is appended.
  std::function<void(std::string_view word, std::vector<Index>& numbers)> split;
  std::string mark = {};  // prefix of pieces inside words; removed when they become right sides of merges

  static Alphabet bytes();
  // Characters, "##" before those that begin no word. Words with other characters are ignored.
  static Alphabet characters(std::vector<std::string> pieces);
};

struct LearntMerges {
  std::vector<std::string> pieces;  // the alphabet, then the result of each merge
  std::vector<Index> pairs;         // the left and the right piece of each merge
};

// At most `limit` merges, of pairs that occur at least minimum_count times each (1 or more). Fewer when no pair is
// left.
LearntMerges learn_merges(const StringTable& words, const std::vector<Index>& counts, std::size_t limit,
                          Index minimum_count, const Alphabet& alphabet = Alphabet::bytes());

}  // namespace heddle::text
