// Precision, recall and their counts; fractions are from 0 to 1.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/base/visit.hpp"

namespace heddle::metrics {

struct Scores {
  double precision = 0;  // correct / predicted, 0 where nothing was predicted
  double recall = 0;     // correct / gold, 0 where there is nothing to find
  double f1 = 0;         // their harmonic mean, 0 where both are 0
  Index support = 0;     // gold

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("precision", "correct / predicted"), self.precision);
    visitor(Field("recall", "correct / gold"), self.recall);
    visitor(Field("f1", "harmonic mean of precision and recall"), self.f1);
    visitor(Field("support", "number of gold examples"), self.support);
  }
};

struct Matches {
  Index gold = 0, predicted = 0, correct = 0;

  Matches& operator+=(const Matches& other) {
    gold += other.gold;
    predicted += other.predicted;
    correct += other.correct;
    return *this;
  }
};

inline Scores scores_of(const Matches& matches) {
  const auto fraction = [](Index part, Index whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {.precision = fraction(matches.correct, matches.predicted),
          .recall = fraction(matches.correct, matches.gold),
          .f1 = fraction(2 * matches.correct, matches.predicted + matches.gold),
          .support = matches.gold};
}

// Values under names that are only known at run time; each is a field.
template <class T>
struct ByName {
  std::vector<std::pair<std::string, T>> entries;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    for (auto& [name, value] : self.entries) visitor(Field(name, ""), value);
  }
};

}  // namespace heddle::metrics
