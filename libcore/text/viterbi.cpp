#include "libcore/text/viterbi.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>

#include "libcore/base/error.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// The sums at the ends of pieces that can still begin or end: those of the last few bytes.
class RecentSums {
 public:
  explicit RecentSums(std::size_t longest) {
    const std::size_t size = std::bit_ceil(longest + 1);
    if (size > few_.size()) many_.resize(size);
    sums_ = {size > few_.size() ? many_.data() : few_.data(), size};
    std::ranges::fill(sums_, impossible);
  }
  double& at(std::size_t end) { return sums_[end & (sums_.size() - 1)]; }

 private:
  std::array<double, 64> few_;  // words are many and short: without memory of its own where this will do
  std::vector<double> many_;
  std::span<double> sums_;
};

constexpr std::size_t longest_character = 4;  // in bytes of UTF-8

// Sum: how sums are kept, as float or double.
template <class Sum>
double find(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores, double unknown_score,
            Sum before, std::vector<LastPiece>& ways, TokenId without) {
  check<DataError>(word.size() < std::numeric_limits<std::uint32_t>::max(), "a word of ", word.size(),
                   " bytes; put spaces or line ends into the text");
  ways.assign(word.size() + 1, {0, no_token});
  RecentSums sums(std::min(std::max(trie.longest(), longest_character), word.size()));
  sums.at(0) = static_cast<double>(before);
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t length = decode(word, begin).length;
    const double so_far = sums.at(begin);
    const auto offer = [&](std::size_t bytes, double score, TokenId piece) {
      const double sum = so_far + score;
      double& best = sums.at(begin + bytes);
      if (sum > best) {
        best = static_cast<double>(static_cast<Sum>(sum));
        ways[begin + bytes] = {static_cast<std::uint32_t>(begin), piece};
      }
    };
    bool has_character = false;
    trie.for_each_prefix(word, begin, [&](std::size_t bytes, TokenId piece) {
      if (piece == without) return;
      offer(bytes, scores[static_cast<std::size_t>(piece)], piece);
      has_character = has_character || bytes == length;
    });
    if (!has_character) offer(length, unknown_score, no_token);
    for (const std::size_t end = begin + length; begin < end; ++begin) sums.at(begin) = impossible;
  }
  return sums.at(word.size());
}

}  // namespace

double find_best_pieces(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                        double unknown_score, std::vector<LastPiece>& ways, TokenId without) {
  return find(word, trie, scores, unknown_score, 0.0, ways, without);
}

float find_best_pieces_rounded(std::string_view word, const PieceTrie& trie, const std::vector<double>& scores,
                               float unknown_score, float before, std::vector<LastPiece>& ways) {
  return static_cast<float>(find(word, trie, scores, static_cast<double>(unknown_score), before, ways, no_token));
}

}  // namespace heddle::text
