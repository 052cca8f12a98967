#include "libcore/metrics/edit_rate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

namespace heddle::metrics {

namespace {

constexpr Index longest_block = 10, farthest_move = 50, beam = 25, most_moves_tried = 1000;
constexpr Index infinite = std::numeric_limits<Index>::max() / 2;

using Ids = std::vector<Index>;  // equal words have equal ids

enum class Edit : char { none, replace, remove, insert };
struct Cell {
  Index cost = infinite;
  Edit edit = Edit::none;
};

// The edit distances of the beginnings of a hypothesis and those of the reference: row i, column j.
class Distances {
 public:
  Distances(const Ids& hypothesis, const Ids& reference)
      : hypothesis_(hypothesis),
        reference_(reference),
        columns_(reference.size() + 1),
        cells_((hypothesis.size() + 1) * columns_) {
    for (std::size_t j = 0; j < columns_; ++j) at(0, j) = {static_cast<Index>(j), Edit::insert};
    compute(1);
  }

  // The same of a hypothesis that differs from the word `first` on.
  void change(const Ids& hypothesis, std::size_t first) {
    hypothesis_ = hypothesis;
    compute(first + 1);
  }

  Index total() const { return cells_.back().cost; }

  // Differences between hypothesis and reference, and for each word of the reference the hypothesis word at or before
  // it: -1 before the first.
  struct Alignment {
    Ids at;
    std::vector<char> wrong_in_hypothesis, wrong_in_reference;
  };
  Alignment alignment() const {
    std::vector<Edit> edits;
    for (std::size_t i = hypothesis_.size(), j = reference_.size(); i > 0 || j > 0;) {
      const Edit edit = cells_[i * columns_ + j].edit;
      edits.push_back(edit);
      if (edit != Edit::insert) --i;
      if (edit != Edit::remove) --j;
    }
    Alignment result;
    Index word = -1;
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
      const char is_wrong = *edit == Edit::none ? 0 : 1;
      if (*edit != Edit::insert) {
        ++word;
        result.wrong_in_hypothesis.push_back(is_wrong);
      }
      if (*edit != Edit::remove) {
        result.at.push_back(word);
        result.wrong_in_reference.push_back(is_wrong);
      }
    }
    return result;
  }

 private:
  Cell& at(std::size_t i, std::size_t j) { return cells_[i * columns_ + j]; }

  void compute(std::size_t first_row) {
    const std::size_t words = hypothesis_.size();
    const double ratio = words == 0 ? 1 : static_cast<double>(reference_.size()) / static_cast<double>(words);
    const Index width = beam < ratio / 2 ? static_cast<Index>(std::ceil(ratio / 2 + beam)) : beam;
    for (std::size_t i = first_row; i <= words; ++i) {
      const auto diagonal = static_cast<Index>(std::floor(static_cast<double>(i) * ratio));
      const auto begin = static_cast<std::size_t>(std::max<Index>(0, diagonal - width));
      const std::size_t end =
          i == words ? columns_ : std::min(columns_, static_cast<std::size_t>(std::max<Index>(0, diagonal + width)));
      std::fill_n(&at(i, 0), columns_, Cell());
      for (std::size_t j = begin; j < end; ++j) at(i, j) = cell(i, j);
    }
  }

  // Among equal costs the first of these edits: keep or replace, remove, insert.
  Cell cell(std::size_t i, std::size_t j) {
    const Cell removed{at(i - 1, j).cost + 1, Edit::remove};
    if (j == 0) return removed;
    const bool is_equal = hypothesis_[i - 1] == reference_[j - 1];
    Cell best{at(i - 1, j - 1).cost + (is_equal ? 0 : 1), is_equal ? Edit::none : Edit::replace};
    if (removed.cost < best.cost) best = removed;
    const Cell inserted{at(i, j - 1).cost + 1, Edit::insert};
    return inserted.cost < best.cost ? inserted : best;
  }

  Ids hypothesis_;
  const Ids& reference_;
  std::size_t columns_;
  std::vector<Cell> cells_;
};

// The words with the block [begin, begin + length) before the former word `target`, counted without the block if it
// contains the target.
Ids moved(Ids words, std::size_t begin, std::size_t length, std::size_t target) {
  const auto place = [&](std::size_t i) {
    return words.begin() + static_cast<std::ptrdiff_t>(std::min(i, words.size()));
  };
  if (target < begin) {
    std::rotate(place(target), place(begin), place(begin + length));
  } else if (target > begin + length) {
    std::rotate(place(begin), place(begin + length), place(target));
  } else {
    std::rotate(place(begin), place(begin + length), place(length + target));
  }
  return words;
}

struct Move {
  Index gain = 0;
  Index length = 0, begin = 0, target = 0;
  Ids words = {};

  bool is_better_than(const Move& other) const {
    return std::tuple(gain, length, -begin, -target) >
           std::tuple(other.gain, other.length, -other.begin, -other.target);
  }
};

class Search {
 public:
  Search(Ids hypothesis, const Ids& reference) : words_(std::move(hypothesis)), reference_(reference) {}

  Index edits() {
    Index moves = 0;
    for (;;) {
      const Move best = best_move();
      if (tried_ >= most_moves_tried || best.gain <= 0) break;
      ++moves;
      words_ = best.words;
    }
    return moves + Distances(words_, reference_).total();
  }

 private:
  Move best_move() {
    const Distances distances(words_, reference_);
    const Distances::Alignment alignment = distances.alignment();
    Move best;
    bool has_one = false;
    const auto words = std::ssize(words_), others = std::ssize(reference_);
    for (Index begin = 0; begin < words; ++begin) {
      for (Index other = std::max<Index>(0, begin - farthest_move); other < others && other <= begin + farthest_move;
           ++other) {
        for (Index length = 1; length <= longest_block && begin + length <= words && other + length <= others &&
                               word(words_, begin + length - 1) == word(reference_, other + length - 1);
             ++length) {
          if (!is_promising(alignment, begin, other, length)) continue;
          try_targets({.length = length, .begin = begin}, other, alignment, distances, best, has_one);
          if (tried_ >= most_moves_tried) return best;
        }
      }
    }
    return best;
  }

  static Index word(const Ids& words, Index at) { return words[static_cast<std::size_t>(at)]; }

  // Wrong at both places, and to be moved out of itself.
  static bool is_promising(const Distances::Alignment& alignment, Index begin, Index other, Index length) {
    const auto has_wrong = [&](const std::vector<char>& wrong, Index from) {
      return std::any_of(wrong.begin() + from, wrong.begin() + from + length,
                         [](char is_wrong) { return is_wrong != 0; });
    };
    const Index target = word(alignment.at, other);
    return has_wrong(alignment.wrong_in_hypothesis, begin) && has_wrong(alignment.wrong_in_reference, other) &&
           (target < begin || target >= begin + length);
  }

  void try_targets(Move move, Index other, const Distances::Alignment& alignment, const Distances& before, Move& best,
                   bool& has_one) {
    Index last = -1;
    for (Index offset = -1; offset < move.length; ++offset) {
      move.target = other + offset < 0 ? 0 : word(alignment.at, other + offset) + 1;
      if (move.target == last) continue;
      last = move.target;
      const auto begin = static_cast<std::size_t>(move.begin), target = static_cast<std::size_t>(move.target);
      move.words = moved(words_, begin, static_cast<std::size_t>(move.length), target);
      Distances after = before;
      after.change(move.words, std::min(begin, target));
      move.gain = before.total() - after.total();
      ++tried_;
      if (!has_one || move.is_better_than(best)) best = move;
      has_one = true;
    }
  }

  Ids words_;
  const Ids& reference_;
  Index tried_ = 0;
};

}  // namespace

Index count_edits(const Words& hypothesis, const Words& reference) {
  if (reference.empty()) return std::ssize(hypothesis);
  std::map<std::string_view, Index> ids;
  const auto ids_of = [&](const Words& words) {
    Ids all;
    for (const std::string& word : words) all.push_back(ids.emplace(word, std::ssize(ids)).first->second);
    return all;
  };
  const Ids theirs = ids_of(reference);
  return Search(ids_of(hypothesis), theirs).edits();
}

}  // namespace heddle::metrics
