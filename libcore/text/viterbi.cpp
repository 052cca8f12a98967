#include "heddle/text/viterbi.hpp"

#include <limits>

#include "heddle/base/error.hpp"
#include "heddle/text/unicode.hpp"

namespace heddle::text {

void find_best_pieces(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                      double unknown_score, std::vector<LastPiece>& ways, TokenId without) {
  check<DataError>(word.size() < std::numeric_limits<std::uint32_t>::max(), "a word of ", word.size(),
                   " bytes; put spaces or line ends into the text");
  ways.assign(word.size() + 1, {-std::numeric_limits<double>::infinity(), 0, no_token});
  ways[0].score = 0;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t length = decode(word, begin).length;
    const double so_far = ways[begin].score;
    const auto offer = [&](std::size_t bytes, double score, TokenId piece) {
      LastPiece& way = ways[begin + bytes];
      if (so_far + score > way.score) way = {so_far + score, static_cast<std::uint32_t>(begin), piece};
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

}  // namespace heddle::text
