// The training of a unigram model as its definition reads, to compare with: all ways to write a word are tried.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::text {

// Source: Kudo 2018, "Subword regularization", section 3.2; what a piece's absence costs and the constants are those of
// SentencePiece's unigram_model_trainer.cc.
class NaiveUnigram {
 public:
  using Scored = std::pair<std::string, double>;  // a piece and the logarithm of its probability

  // Words of well-formed UTF-8 with their counts.
  NaiveUnigram(const std::map<std::string, Index>& words, std::size_t wanted) : wanted_(wanted) {
    std::map<std::string, double> letters, substrings;
    for (const auto& [word, count] : words) {
      words_.emplace_back(characters_of(word), static_cast<double>(count));
      count_substrings(words_.back(), letters, substrings);
    }
    for (const auto& [letter, count] : letters) pieces_.emplace_back(letter, count);
    characters_ = pieces_.size();
    std::vector<std::pair<double, Scored>> seeds;  // by length in characters times count
    for (const auto& [text, count] : substrings) {
      if (count >= 2) seeds.push_back({-count * static_cast<double>(characters_of(text).size()), {text, count}});
    }
    std::ranges::sort(seeds, {}, [](const auto& seed) { return std::pair(seed.first, seed.second.first); });
    seeds.resize(std::min(seeds.size(), 10 * wanted));
    for (const auto& [worth, seed] : seeds) pieces_.push_back(seed);
    normalise();
  }

  std::map<std::string, double> learn() {
    for (bool done = false; !done;) {
      done = pieces_.size() <= wanted_;
      for (int step = 0; step < 2; ++step) maximise_expectation();
      if (!done) prune();
    }
    return {pieces_.begin(), pieces_.end()};
  }

 private:
  using Characters = std::vector<std::string>;
  using Way = std::vector<std::size_t>;  // numbers of pieces

  static Characters characters_of(const std::string& text) {
    Characters characters;
    for (const char byte : text) {
      if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) characters.emplace_back();
      characters.back() += byte;
    }
    return characters;
  }

  static void count_substrings(const std::pair<Characters, double>& word, std::map<std::string, double>& letters,
                               std::map<std::string, double>& longer) {
    constexpr std::size_t longest = 16;
    const auto& [characters, count] = word;
    for (std::size_t begin = 0; begin < characters.size(); ++begin) {
      std::string text;
      for (std::size_t end = begin; end < std::min(characters.size(), begin + longest); ++end) {
        text += characters[end];
        (end == begin ? letters : longer)[text] += count;
      }
    }
  }

  void normalise() {
    double sum = 0;
    for (Scored& piece : pieces_) sum += piece.second = std::max(piece.second, 1e-3);
    for (Scored& piece : pieces_) piece.second = std::log(piece.second / sum);
  }

  // Appends every way to write the characters from `begin` on without the piece `but`, with its log-probability.
  void all_ways(const Characters& word, std::size_t begin, std::size_t but, const Way& before, double score,
                std::vector<std::pair<double, Way>>& ways) const {
    if (begin == word.size()) return ways.push_back({score, before});
    std::string text;
    for (std::size_t end = begin; end < word.size(); ++end) {
      text += word[end];
      const auto found = numbers_.find(text);
      if (found == numbers_.end() || found->second == but) continue;
      Way way = before;
      way.push_back(found->second);
      all_ways(word, end + 1, but, way, score + pieces_[found->second].second, ways);
    }
  }
  std::vector<std::pair<double, Way>> ways_of(const Characters& word,
                                              std::size_t but = std::numeric_limits<std::size_t>::max()) {
    numbers_.clear();
    for (std::size_t i = 0; i < pieces_.size(); ++i) numbers_[pieces_[i].first] = i;
    std::vector<std::pair<double, Way>> ways;
    all_ways(word, 0, but, {}, 0, ways);
    return ways;
  }

  void maximise_expectation() {
    std::vector<double> counts(pieces_.size(), 0.0);
    for (const auto& [word, count] : words_) {
      const auto ways = ways_of(word);
      double sum = 0;
      for (const auto& [score, way] : ways) sum += std::exp(score);
      for (const auto& [score, way] : ways) {
        for (const std::size_t piece : way) counts[piece] += count * std::exp(score) / sum;
      }
    }
    for (std::size_t i = 0; i < counts.size(); ++i) pieces_[i].second = counts[i];
    normalise();
  }

  // The loss of a piece of count c, which n others of counts c_i replace, is c (log p - sum log p_i), of the
  // probabilities p = c / N before, with N all counts, and p_i = (c_i + c) / (N + c (n - 1)) after.
  void prune() {
    std::vector<double> counts(pieces_.size(), 0.0);
    double sum = 0;
    for (const auto& [word, count] : words_) {
      for (const std::size_t piece : std::ranges::max(ways_of(word)).second) {
        counts[piece] += count;
        sum += count;
      }
    }
    std::vector<std::pair<double, std::size_t>> losses;
    for (std::size_t i = characters_; i < pieces_.size(); ++i) {
      double loss = 0;
      if (counts[i] > 0) {
        const Way others = std::ranges::max(ways_of(characters_of(pieces_[i].first), i)).second;
        const double after = sum + counts[i] * (static_cast<double>(others.size()) - 1);
        loss = counts[i] * std::log(counts[i] / sum);
        for (const std::size_t other : others) loss -= counts[i] * std::log((counts[other] + counts[i]) / after);
      }
      losses.emplace_back(-loss, i);
    }
    std::ranges::sort(losses);
    const auto kept = std::max(pieces_.size() * 3 / 4, wanted_);
    losses.resize(kept - characters_);
    std::ranges::sort(losses, {}, [](const auto& loss) { return loss.second; });
    std::vector<Scored> left(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(characters_));
    for (const auto& [loss, piece] : losses) left.push_back(pieces_[piece]);
    pieces_ = std::move(left);
  }

  std::size_t wanted_, characters_ = 0;
  std::vector<std::pair<Characters, double>> words_;
  std::vector<Scored> pieces_;  // the characters first; scores are counts until they are normalised
  std::map<std::string, std::size_t> numbers_;
};

}  // namespace heddle::text
