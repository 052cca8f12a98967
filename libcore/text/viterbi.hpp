// The most probable pieces of a word: of all ways to write it as pieces, the one with the largest sum of scores; a
// character that is no piece may stand for itself, at a penalty.
// Source: Kudo 2018, "Subword regularization: improving neural network translation models with multiple subword
// candidates", equations 1 to 3. Cost: linear in the word's bytes times the longest piece; 8 bytes of memory a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/piece_trie.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

// Last piece of the best segmentation of a word up to some byte.
struct LastPiece {
  std::uint32_t begin;
  TokenId piece;  // or no_token for an unknown character
};

// Throws DataError for a word of 4 GB. Fills `ways`, of a word's bytes plus one; only the ends of characters have a
// way. Returns the sum of scores, which are natural logarithms. The word may have to do without one piece.
double find_best_pieces(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                        double unknown_score, std::vector<LastPiece>& ways, TokenId without = no_token);

// The same with sums as SentencePiece rounds them: what is before the word counts, and each sum is kept in single
// precision but compared in double. Of ways that are equally probable, such as a-aa and aa-a, this decides which is
// found.
float find_best_pieces_rounded(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                               float unknown_score, float before, std::vector<LastPiece>& ways);

}  // namespace heddle::text
