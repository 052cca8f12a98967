#include "libcore/text/learn_unigram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "libcore/tensor/threads.hpp"
#include "libcore/text/piece_trie.hpp"
#include "libcore/text/unicode.hpp"
#include "libcore/text/viterbi.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

namespace {

constexpr std::size_t longest_piece = 16;    // characters
constexpr std::size_t seeds_per_piece = 10;  // pieces to begin with for each that is wanted
constexpr double kept_part = 0.75;           // fraction of the pieces kept at each pruning
constexpr int steps_a_round = 2;
constexpr Index tasks = 16;  // independent of the number of threads, so that sums are the same
constexpr double least_count = 1e-3;
// Words are learnt from in parts of so many bytes: longer ones are no words, and would take memory in proportion.
constexpr std::size_t longest_run = std::size_t{1} << 14;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

struct Counted {
  StringTable texts;
  std::vector<Index> counts;

  void add(std::string_view text, Index count) {
    const auto [index, is_new] = texts.add(text);
    if (is_new) counts.push_back(0);
    counts[index] += count;
  }
  Index count_of(std::string_view text) const {
    const auto found = texts.find(text);
    return found ? counts[*found] : 0;
  }
};

// Orders a table's entries by their worth; the best first, ties by bytes.
std::vector<std::size_t> best_first(const Counted& table, const std::function<double(std::size_t)>& worth) {
  std::vector<std::tuple<double, std::string_view, std::size_t>> order;
  for (std::size_t i = 0; i < table.counts.size(); ++i) order.emplace_back(-worth(i), table.texts[i], i);
  std::ranges::sort(order);
  std::vector<std::size_t> best;
  for (const auto& entry : order) best.push_back(std::get<2>(entry));
  return best;
}

// Calls take(begin, end) for each run of characters of the word that the table has, cut into parts where it is long.
template <class Take>
void for_each_known_run(std::string_view word, const Counted& characters, const Take& take) {
  std::size_t begin = 0, at = 0;
  while (at < word.size()) {
    const std::size_t length = decode(word, at).length;
    const bool known = characters.count_of(word.substr(at, length)) > 0;
    if (!known || at - begin >= longest_run) {
      if (at > begin) take(begin, at);
      begin = known ? at : at + length;
    }
    at += length;
  }
  if (at > begin) take(begin, at);
}

Counted known_characters(const StringTable& words, const std::vector<Index>& counts, const UnigramGoal& goal) {
  Counted all;
  for (std::size_t word = 0; word < words.size(); ++word) {
    const std::string_view text = words[word];
    for (std::size_t at = 0; at < text.size();) {
      const Character character = decode(text, at);
      if (character.code != invalid_character) all.add(text.substr(at, character.length), counts[word]);
      at += character.length;
    }
  }
  Counted known;
  const auto count_of = [&](std::size_t i) { return static_cast<double>(all.counts[i]); };
  for (const std::size_t i : best_first(all, count_of)) {
    if (known.counts.size() >= (goal.pieces + 1) / 2 || all.counts[i] < goal.minimum_count) break;
    known.add(all.texts[i], all.counts[i]);
  }
  return known;
}

class UnigramLearner {
 public:
  UnigramLearner(const StringTable& words, const std::vector<Index>& counts, const UnigramGoal& goal) : goal_(goal) {
    const Counted characters = known_characters(words, counts, goal);
    for (std::size_t word = 0; word < words.size(); ++word) {
      for_each_known_run(words[word], characters, [&](std::size_t begin, std::size_t end) {
        runs_.add(words[word].substr(begin, end - begin), counts[word]);
      });
    }
    for (std::size_t i = 0; i < characters.counts.size(); ++i) {
      add_piece(characters.texts[i], static_cast<double>(characters.counts[i]));
    }
    characters_ = pieces_.size();
    add_seeds(characters);
    normalise();
  }

  LearntUnigram learn() {
    for (bool done = false; !done;) {
      done = pieces_.size() <= goal_.pieces;
      for (int step = 0; step < steps_a_round; ++step) improve();
      if (!done) prune();
    }
    return sorted();
  }

 private:
  struct Match {
    std::size_t begin, end;
    TokenId piece;
  };
  struct Expectation {
    std::vector<double> counts;
    double log_likelihood = 0;
  };

  void add_piece(std::string_view text, double count) {
    pieces_.emplace_back(text);
    scores_.push_back(count);
  }
  void add_seeds(const Counted& characters);
  template <class Take>
  void for_each_substring(const Counted& shorter, std::size_t characters, const Take& take) const;
  Counted longer_substrings(const Counted& shorter, std::size_t characters) const;
  void normalise();
  PieceTrie trie() const;
  void improve();
  void expect_run(std::size_t run, const PieceTrie& index, Expectation& sum, std::vector<Match>& matches) const;
  std::vector<double> best_counts(const PieceTrie& index) const;
  std::vector<TokenId> without_itself(TokenId piece, const PieceTrie& index) const;
  void prune();
  LearntUnigram sorted() const;

  const UnigramGoal& goal_;
  Counted runs_;                     // runs of known characters
  std::vector<std::string> pieces_;  // the characters first
  std::vector<double> scores_;       // counts, until they are normalised
  std::size_t characters_ = 0;
};

// Calls take(substring, count) for each place of a substring of so many characters whose beginning and end, one
// shorter, occur twice.
template <class Take>
void UnigramLearner::for_each_substring(const Counted& shorter, std::size_t characters, const Take& take) const {
  std::vector<std::size_t> places;
  for (std::size_t run = 0; run < runs_.counts.size(); ++run) {
    const std::string_view text = runs_.texts[run];
    places.clear();
    for (std::size_t at = 0; at < text.size(); at += decode(text, at).length) places.push_back(at);
    places.push_back(text.size());
    for (std::size_t i = 0; i + characters < places.size(); ++i) {
      const std::size_t begin = places[i], end = places[i + characters];
      const std::string_view head = text.substr(begin, places[i + characters - 1] - begin);
      const std::string_view tail = text.substr(places[i + 1], end - places[i + 1]);
      if (shorter.count_of(head) < 2 || shorter.count_of(tail) < 2) continue;
      take(text.substr(begin, end - begin), runs_.counts[run]);
    }
  }
}

// Approximate record of hashes seen once and again: has false positives, no false negatives.
class Sieve {
 public:
  // For at most so many different texts, of which a fourth is taken for others.
  explicit Sieve(std::size_t size) : once_(std::bit_ceil(4 * size + 1)), again_(once_.size()) {}

  void add(std::string_view text, Index count) {
    const std::size_t slot = slot_of(text);
    again_[slot] = again_[slot] || once_[slot] || count > 1;
    once_[slot] = true;
  }
  bool has_again(std::string_view text) const { return again_[slot_of(text)]; }

 private:
  std::size_t slot_of(std::string_view text) const { return std::hash<std::string_view>{}(text) & (once_.size() - 1); }

  std::vector<bool> once_, again_;
};

// Substrings that are one character longer and occur twice, and a few that occur once. A table of all takes many
// times the text, of which most substrings occur once.
Counted UnigramLearner::longer_substrings(const Counted& shorter, std::size_t characters) const {
  std::size_t places = 0;
  for (std::size_t run = 0; run < runs_.counts.size(); ++run) places += runs_.texts[run].size();
  Sieve sieve(places);
  for_each_substring(shorter, characters, [&](std::string_view text, Index count) { sieve.add(text, count); });
  Counted longer;
  for_each_substring(shorter, characters, [&](std::string_view text, Index count) {
    if (sieve.has_again(text)) longer.add(text, count);
  });
  return longer;
}

// Texts with their counts and lengths in characters, of which the best are kept: those whose product is largest.
struct Seeds {
  std::size_t wanted;
  Counted texts;
  std::vector<double> lengths;

  void add(std::string_view text, Index count, std::size_t characters) {
    texts.add(text, count);
    lengths.push_back(static_cast<double>(characters));
  }
  std::vector<std::size_t> best() const {
    const auto worth = [&](std::size_t i) { return lengths[i] * static_cast<double>(texts.counts[i]); };
    std::vector<std::size_t> order = best_first(texts, worth);
    order.resize(std::min(order.size(), wanted));
    return order;
  }
  void drop_others() {
    Seeds kept{wanted, {}, {}};
    for (const std::size_t i : best()) kept.add(texts.texts[i], texts.counts[i], static_cast<std::size_t>(lengths[i]));
    *this = std::move(kept);
  }
};

void UnigramLearner::add_seeds(const Counted& characters) {
  Seeds seeds{seeds_per_piece * goal_.pieces, {}, {}};
  Counted substrings;
  for (std::size_t i = 0; i < characters.counts.size(); ++i) substrings.add(characters.texts[i], characters.counts[i]);
  for (std::size_t length = 2; length <= longest_piece && !substrings.counts.empty(); ++length) {
    substrings = longer_substrings(substrings, length);
    for (std::size_t i = 0; i < substrings.counts.size(); ++i) {
      if (substrings.counts[i] < std::max<Index>(2, goal_.minimum_count)) continue;
      seeds.add(substrings.texts[i], substrings.counts[i], length);
      if (seeds.lengths.size() >= 4 * seeds.wanted) seeds.drop_others();
    }
  }
  for (const std::size_t i : seeds.best()) add_piece(seeds.texts.texts[i], static_cast<double>(seeds.texts.counts[i]));
}

// From counts to scores.
void UnigramLearner::normalise() {
  double sum = 0;
  for (double& count : scores_) sum += count = std::max(count, least_count);
  for (double& score : scores_) score = std::log(score / sum);
}

PieceTrie UnigramLearner::trie() const {
  std::vector<PieceTrie::Piece> pieces;
  for (std::size_t i = 0; i < pieces_.size(); ++i) pieces.emplace_back(pieces_[i], static_cast<TokenId>(i));
  return PieceTrie(std::move(pieces));
}

// log(exp(a) + exp(b))
double add_logs(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == minus_infinity ? a : a + std::log1p(std::exp(b - a));
}

// Adds how often each piece is expected in the ways to write a run, weighed by their probabilities.
void UnigramLearner::expect_run(std::size_t run, const PieceTrie& index, Expectation& sum,
                                std::vector<Match>& matches) const {
  const std::string_view text = runs_.texts[run];
  const auto score = [&](const Match& match) { return scores_[static_cast<std::size_t>(match.piece)]; };
  matches.clear();
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).length) {
    index.for_each_prefix(text, at, [&](std::size_t bytes, TokenId id) { matches.push_back({at, at + bytes, id}); });
  }
  std::vector<double> before(text.size() + 1, minus_infinity), after(text.size() + 1, minus_infinity);
  before[0] = after[text.size()] = 0;
  for (const Match& match : matches)
    before[match.end] = add_logs(before[match.end], before[match.begin] + score(match));
  for (std::size_t i = matches.size(); i-- > 0;) {
    const Match& match = matches[i];
    after[match.begin] = add_logs(after[match.begin], after[match.end] + score(match));
  }
  const auto count = static_cast<double>(runs_.counts[run]);
  sum.log_likelihood += count * after[0];
  for (const Match& match : matches) {
    sum.counts[static_cast<std::size_t>(match.piece)] +=
        count * std::exp(before[match.begin] + score(match) + after[match.end] - after[0]);
  }
}

// One step of expectation maximisation.
void UnigramLearner::improve() {
  const PieceTrie index = trie();
  std::vector<Expectation> parts(tasks);
  const std::size_t size = runs_.counts.size();
  parallel_for(tasks, [&](Index task) {
    const auto number = static_cast<std::size_t>(task);
    Expectation& part = parts[number];
    part.counts.resize(pieces_.size());
    std::vector<Match> matches;
    const std::size_t end = size * (number + 1) / tasks;
    for (std::size_t run = size * number / tasks; run < end; ++run) expect_run(run, index, part, matches);
  });
  double log_likelihood = 0;
  std::ranges::fill(scores_, 0);
  for (const Expectation& part : parts) {
    log_likelihood += part.log_likelihood;
    for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] += part.counts[i];
  }
  normalise();
  if (goal_.progress) goal_.progress(pieces_.size(), log_likelihood);
}

// Count of each piece in the most probable segmentations of the words.
std::vector<double> UnigramLearner::best_counts(const PieceTrie& index) const {
  std::vector<double> counts(pieces_.size());
  std::vector<LastPiece> ways;
  for (std::size_t run = 0; run < runs_.counts.size(); ++run) {
    find_best_pieces(runs_.texts[run], index, scores_, minus_infinity, ways);
    for (std::size_t end = ways.size() - 1; end > 0; end = ways[end].begin) {
      counts[static_cast<std::size_t>(ways[end].piece)] += static_cast<double>(runs_.counts[run]);
    }
  }
  return counts;
}

// The most probable pieces of a piece but itself.
std::vector<TokenId> UnigramLearner::without_itself(TokenId piece, const PieceTrie& index) const {
  std::vector<LastPiece> ways;
  const auto number = static_cast<std::size_t>(piece);
  std::vector<TokenId> parts;
  find_best_pieces(pieces_[number], index, scores_, minus_infinity, ways, piece);
  for (std::size_t end = ways.size() - 1; end > 0; end = ways[end].begin) parts.push_back(ways[end].piece);
  return parts;
}

// A removed piece is replaced by its parts, whose counts increase by its own.
void UnigramLearner::prune() {
  const PieceTrie index = trie();
  const std::vector<double> counts = best_counts(index);
  double sum = 0;
  for (const double count : counts) sum += count;
  std::vector<std::pair<double, std::size_t>> losses;
  for (std::size_t i = characters_; i < pieces_.size(); ++i) {
    double loss = 0;
    if (counts[i] > 0) {
      const std::vector<TokenId> parts = without_itself(static_cast<TokenId>(i), index);
      const double new_sum = std::log(sum + counts[i] * (static_cast<double>(parts.size()) - 1));
      loss = std::log(counts[i]) - std::log(sum);
      for (const TokenId part : parts) loss -= std::log(counts[static_cast<std::size_t>(part)] + counts[i]) - new_sum;
      loss *= counts[i];
    }
    losses.emplace_back(-loss, i);
  }
  const auto kept = std::max(static_cast<std::size_t>(kept_part * static_cast<double>(pieces_.size())), goal_.pieces);
  std::ranges::sort(losses);
  losses.resize(kept - characters_);
  std::ranges::sort(losses, {}, [](const auto& loss) { return loss.second; });
  for (std::size_t i = 0; i < losses.size(); ++i) {
    std::swap(pieces_[characters_ + i], pieces_[losses[i].second]);
    scores_[characters_ + i] = scores_[losses[i].second];
  }
  pieces_.resize(kept);
  scores_.resize(kept);
}

LearntUnigram UnigramLearner::sorted() const {
  std::vector<std::pair<double, std::string_view>> order;
  for (std::size_t i = 0; i < pieces_.size(); ++i) order.emplace_back(-scores_[i], pieces_[i]);
  std::ranges::sort(order);
  LearntUnigram result;
  for (const auto& [score, piece] : order) {
    result.pieces.emplace_back(piece);
    result.scores.push_back(-score);
  }
  return result;
}

}  // namespace

LearntUnigram learn_unigram(const StringTable& words, const std::vector<Index>& counts, const UnigramGoal& goal) {
  return UnigramLearner(words, counts, goal).learn();
}

}  // namespace heddle::text
