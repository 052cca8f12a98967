#include "heddle/text/viterbi.hpp"

#include <limits>

#include "heddle/base/error.hpp"
#include "heddle/text/unicode.hpp"

namespace heddle::text {

namespace {

// Sum: how sums are kept, as float or double.
template <class Sum>
void find(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores, double unknown_score,
          Sum before, std::vector<LastPiece>& ways, TokenId without) {
  check<DataError>(word.size() < std::numeric_limits<std::uint32_t>::max(), "a word of ", word.size(),
                   " bytes; put spaces or line ends into the text");
  ways.assign(word.size() + 1, {-std::numeric_limits<double>::infinity(), 0, no_token});
  ways[0].score = static_cast<double>(before);
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t length = decode(word, begin).length;
    const double so_far = ways[begin].score;
    const auto offer = [&](std::size_t bytes, double score, TokenId piece) {
      LastPiece& way = ways[begin + bytes];
      const double sum = so_far + score;
      if (sum > way.score) {
        way = {static_cast<double>(static_cast<Sum>(sum)), static_cast<std::uint32_t>(begin), piece};
      }
    };
    bool has_character = false;
    trie.for_each_prefix(word, begin, [&](std::size_t bytes, TokenId piece) {
      if (piece == without) return;
      offer(bytes, scores[static_cast<std::size_t>(piece)], piece);
      has_character = has_character || bytes == length;
    });
    if (!has_character) offer(length, unknown_score, no_token);
    begin += length;
  }
}

}  // namespace

void find_best_pieces(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                      double unknown_score, std::vector<LastPiece>& ways, TokenId without) {
  find(word, trie, scores, unknown_score, 0.0, ways, without);
}

void find_best_pieces_rounded(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                              float unknown_score, float before, std::vector<LastPiece>& ways) {
  find(word, trie, scores, static_cast<double>(unknown_score), before, ways, no_token);
}

}  // namespace heddle::text
