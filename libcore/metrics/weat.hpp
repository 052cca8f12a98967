// The word embedding association test.
//
//   s(w) = mean over a of cos(w, a) - mean over b of cos(w, b)
//   d = (mean over x of s(x) - mean over y of s(y)) / stddev of s over x and y together (n - 1 degrees of freedom)
//   p = fraction of the partitions of x and y into sets as large whose mean s(x) - mean s(y) is as large or larger
// Source: Caliskan, Bryson and Narayanan 2017, "Semantics derived automatically from language corpora contain
// human-like biases"; that partitions are counted as here, the one that was found among them, is Phipson and Smyth
// 2010.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heddle/base/visit.hpp"

namespace heddle::metrics {

struct Association {
  double effect_size = 0, p = 1;
  Index partitions = 0;  // that were looked at
  bool exact = true;     // all there are, or else so many drawn at random, and the one that was found

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("effect_size", "difference of the means in deviations"), self.effect_size);
    visitor(Field("p", "fraction of the partitions with a difference as large or larger"), self.p);
    visitor(Field("partitions", "how many were looked at"), self.partitions);
    visitor(Field("exact", "whether these are all"), self.exact);
  }
};

struct Partitions {
  Index most = 100000;  // where there are more, this many are drawn
  std::uint64_t seed = 1;
};

using Vector = std::vector<double>;

// s(w). The cosine with a vector of zeros is 0. Throws ShapeError for vectors of different lengths, DataError where a
// set is empty.
double association(const Vector& word, std::span<const Vector> a, std::span<const Vector> b);

// Of the s of the words of x and of y; the effect is 0 where all are equal.  Throws DataError for fewer than two words
// in a set, UsageError for fewer than 1 partition.  Cost: partitions * words.
Association weat(std::span<const double> x, std::span<const double> y, const Partitions& partitions);

}  // namespace heddle::metrics
