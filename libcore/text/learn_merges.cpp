#include "libcore/text/learn_merges.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// All words lie in one array of slots, a piece of the alphabet a slot, a gap between words. A piece is written into its
// first and its last slot, so that neighbours are found from either side; the slots between hold gaps too.
using Piece = std::int32_t;
using Slot = std::uint32_t;
constexpr Piece gap = -1;

struct Occurrence {
  Slot slot;  // slot of the left piece, now or formerly
  std::uint32_t word;
};

struct Pair {
  Index count = 0;
  std::vector<Occurrence> occurrences;  // and some that are no more
};

std::uint64_t key_of(Piece left, Piece right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}
Piece left_of(std::uint64_t key) {
  return static_cast<Piece>(key >> 32);
}
Piece right_of(std::uint64_t key) {
  return static_cast<Piece>(key & 0xFFFFFFFF);
}

struct KeyHash {
  std::size_t operator()(std::uint64_t key) const { return (key ^ key >> 29) * 0x9E3779B97F4A7C15u >> 7; }
};

class BpeLearner {
 public:
  BpeLearner(const StringTable& words, const std::vector<Index>& counts, const Alphabet& alphabet);
  LearntMerges learn(std::size_t limit, Index minimum_count);

 private:
  struct Candidate {
    Index count;
    std::uint64_t key;
  };

  std::size_t length(Piece piece) const { return lengths_[static_cast<std::size_t>(piece)]; }
  bool comes_later(const Candidate& a, const Candidate& b) const;
  void merge(std::uint64_t key);
  void merge_at(const Occurrence& occurrence, Piece left, Piece right, Piece merged);
  void lose(Piece left, Piece right, Index count);
  void gain(Piece left, Piece right, Index count, const Occurrence& occurrence);

  const std::vector<Index>& counts_;
  const std::string& mark_;
  std::vector<std::string> pieces_;
  std::vector<std::uint32_t> lengths_;  // in slots
  std::vector<Piece> slots_;
  std::unordered_map<std::uint64_t, Pair, KeyHash> pairs_;
  std::vector<std::uint64_t> new_keys_;
};

BpeLearner::BpeLearner(const StringTable& words, const std::vector<Index>& counts, const Alphabet& alphabet)
    : counts_(counts), mark_(alphabet.mark), pieces_(alphabet.pieces), lengths_(alphabet.pieces.size(), 1) {
  std::size_t slots = 1;
  for (std::size_t word = 0; word < words.size(); ++word) slots += words[word].size() + 1;
  check<DataError>(slots < std::numeric_limits<Slot>::max(),
                   "the text has more than 4 GB of different words; train on a part of it");
  slots_.reserve(slots);
  slots_.push_back(gap);
  std::vector<Index> numbers;
  for (std::size_t word = 0; word < words.size(); ++word) {
    Piece previous = gap;
    numbers.clear();
    alphabet.split(words[word], numbers);
    for (const Index number : numbers) {
      const auto piece = static_cast<Piece>(number);
      const auto slot = static_cast<Slot>(slots_.size());
      if (previous != gap) gain(previous, piece, counts[word], {slot - 1, static_cast<std::uint32_t>(word)});
      slots_.push_back(piece);
      previous = piece;
    }
    slots_.push_back(gap);
  }
}

bool BpeLearner::comes_later(const Candidate& a, const Candidate& b) const {
  if (a.count != b.count) return a.count < b.count;
  const auto bytes = [this](Piece piece) -> const std::string& { return pieces_[static_cast<std::size_t>(piece)]; };
  const int order = bytes(left_of(a.key)).compare(bytes(left_of(b.key)));
  return order != 0 ? order > 0 : bytes(right_of(a.key)) > bytes(right_of(b.key));
}

// Counts of old pairs only fall, so a candidate whose count is out of date goes back into the queue with the new one.
LearntMerges BpeLearner::learn(std::size_t limit, Index minimum_count) {
  const auto later = [this](const Candidate& a, const Candidate& b) { return comes_later(a, b); };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(later)> queue(later);
  std::vector<Index> merges;
  while (merges.size() < 2 * limit) {
    for (const std::uint64_t key : new_keys_) queue.push({pairs_.at(key).count, key});
    new_keys_.clear();
    if (queue.empty() || queue.top().count < minimum_count) break;
    const auto [count, key] = queue.top();
    queue.pop();
    const Index now = pairs_.at(key).count;
    if (now != count) {
      queue.push({now, key});
      continue;
    }
    merges.insert(merges.end(), {left_of(key), right_of(key)});
    merge(key);
  }
  return {std::move(pieces_), std::move(merges)};
}

void BpeLearner::merge(std::uint64_t key) {
  const auto merged = static_cast<Piece>(pieces_.size());
  const Piece left = left_of(key), right = right_of(key);
  const std::string& tail = pieces_[static_cast<std::size_t>(right)];
  pieces_.push_back(pieces_[static_cast<std::size_t>(left)] + tail.substr(tail.starts_with(mark_) ? mark_.size() : 0));
  lengths_.push_back(static_cast<std::uint32_t>(length(left) + length(right)));
  std::vector<Occurrence> occurrences = std::move(pairs_.extract(key).mapped().occurrences);
  std::ranges::sort(occurrences, {}, &Occurrence::slot);
  for (const Occurrence& occurrence : occurrences) merge_at(occurrence, left, right, merged);
}

void BpeLearner::merge_at(const Occurrence& occurrence, Piece left, Piece right, Piece merged) {
  const std::size_t begin = occurrence.slot, middle = begin + length(left), end = middle + length(right);
  if (slots_[begin] != left || slots_[middle] != right) return;
  const Index count = counts_[occurrence.word];
  slots_[middle - 1] = slots_[middle] = gap;
  slots_[begin] = slots_[end - 1] = merged;
  if (const Piece before = slots_[begin - 1]; before != gap) {
    lose(before, left, count);
    gain(before, merged, count, {static_cast<Slot>(begin - length(before)), occurrence.word});
  }
  if (const Piece after = slots_[end]; after != gap) {
    lose(right, after, count);
    gain(merged, after, count, occurrence);
  }
}

void BpeLearner::lose(Piece left, Piece right, Index count) {
  if (const auto pair = pairs_.find(key_of(left, right)); pair != pairs_.end()) pair->second.count -= count;
}

void BpeLearner::gain(Piece left, Piece right, Index count, const Occurrence& occurrence) {
  const auto [pair, is_new] = pairs_.try_emplace(key_of(left, right));
  if (is_new) new_keys_.push_back(pair->first);
  pair->second.count += count;
  pair->second.occurrences.push_back(occurrence);
}

}  // namespace

Alphabet Alphabet::bytes() {
  Alphabet alphabet;
  for (int byte = 0; byte < 256; ++byte) alphabet.pieces.emplace_back(1, static_cast<char>(byte));
  alphabet.split = [](std::string_view word, std::vector<Index>& numbers) {
    for (const char byte : word) numbers.push_back(static_cast<unsigned char>(byte));
  };
  return alphabet;
}

Alphabet Alphabet::characters(std::vector<std::string> pieces) {
  Alphabet alphabet{std::move(pieces), {}, std::string(continuation_mark)};
  std::unordered_map<std::string, Index> numbers_of;
  for (const std::string& piece : alphabet.pieces) numbers_of.emplace(piece, static_cast<Index>(numbers_of.size()));
  alphabet.split = [numbers_of = std::move(numbers_of)](std::string_view word, std::vector<Index>& numbers) {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t length = decode(word, at).length;
      const std::string piece = (at > 0 ? std::string(continuation_mark) : "") + std::string(word.substr(at, length));
      const auto found = numbers_of.find(piece);
      if (found == numbers_of.end()) return numbers.clear();
      numbers.push_back(found->second);
      at += length;
    }
  };
  return alphabet;
}

LearntMerges learn_merges(const StringTable& words, const std::vector<Index>& counts, std::size_t limit,
                          Index minimum_count, const Alphabet& alphabet) {
  return BpeLearner(words, counts, alphabet).learn(limit, std::max<Index>(minimum_count, 1));
}

}  // namespace heddle::text
