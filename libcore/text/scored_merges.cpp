#include "libcore/text/scored_merges.hpp"

#include <cstdint>
#include <limits>
#include <queue>

#include "libcore/base/error.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// A part of the word; empty once merged into its left neighbour.
struct Part {
  std::uint32_t begin, size;
  std::uint32_t previous, next;
};

struct Candidate {
  double score;
  std::uint32_t left, size;  // the left part, and the bytes of both: what changes them changes their size
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

std::vector<Part> characters_of(std::string_view word) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t length = decode(word, at).length;
    const auto number = static_cast<std::uint32_t>(parts.size());
    parts.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length), number - 1, number + 1});
    at += length;
  }
  return parts;
}

}  // namespace

void ScoredMerges::encode(std::string_view word, const TokenOutput& output) const {
  check<DataError>(word.size() < std::numeric_limits<std::uint32_t>::max(), "a word of ", word.size(),
                   " bytes; put spaces or line ends into the text");
  std::vector<Part> parts = characters_of(word);
  const auto count = static_cast<std::uint32_t>(parts.size());
  std::priority_queue<Candidate> candidates;
  const auto offer = [&](std::uint32_t left) {
    const std::uint32_t right = left < count ? parts[left].next : count;
    if (right >= count) return;
    const std::uint32_t size = parts[left].size + parts[right].size;
    const TokenId segment = segments_.find(word.substr(parts[left].begin, size));
    if (segment != no_token) candidates.push({segments_.scores()[static_cast<std::size_t>(segment)], left, size});
  };
  for (std::uint32_t left = 0; left < count; ++left) offer(left);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Part& left = parts[best.left];
    if (left.size == 0 || left.next >= count || left.size + parts[left.next].size != best.size) continue;
    Part& right = parts[left.next];
    left.size = best.size;
    left.next = right.next;
    right.size = 0;
    if (left.next < count) parts[left.next].previous = best.left;
    offer(left.previous);
    offer(best.left);
  }
  for (std::uint32_t at = 0, unknown = count; at < count; at = parts[at].next) {
    const auto [begin, size, previous, next] = parts[at];
    const TokenId segment = segments_.find(word.substr(begin, size));
    if (segment == no_token && unknown == count) unknown = at;
    const bool ends_unknown = unknown != count && (segment != no_token || next >= count);
    if (ends_unknown) {
      const std::uint32_t from = parts[unknown].begin, end = segment != no_token ? begin : begin + size;
      segments_.append_unknown(word.substr(from, end - from), from, output);
      unknown = count;
    }
    if (segment != no_token) segments_.append(segment, begin, output);
  }
}

}  // namespace heddle::text
