// The word embedding association test.
//
//   s(w) = mean over a of cos(w, a) - mean over b of cos(w, b)
//   d = (mean over x of s(x) - mean over y of s(y)) / stddev of s over x and y together (n - 1 degrees of freedom)
//   p = fraction of the partitions of x and y into sets as large (permutations of the words) whose mean s(x) - mean
//   s(y)
//       is as large or larger
// Source: Caliskan, Bryson and Narayanan 2017, "Semantics derived automatically from language corpora contain
// human-like biases"; counting the observed partition too follows Phipson and Smyth 2010.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/base/visit.hpp"

namespace heddle::metrics {

struct Association {
  double effect_size = 0, p = 1;
  Index permutations = 0;  // number tested
  bool exact = true;       // all of them were tested; otherwise a random sample and the observed one

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("effect_size", "difference of the means in standard deviations"), self.effect_size);
    visitor(Field("p", "fraction of the partitions with a difference as large or larger"), self.p);
    visitor(Field("permutations", "number of partitions tested"), self.permutations);
    visitor(Field("exact", "whether all of them were tested"), self.exact);
  }
};

struct Permutations {
  Index most = 100000;  // maximum; if there are more, this many are drawn at random
  std::uint64_t seed = 1;
};

using Vector = std::vector<double>;

// s(w). The cosine with a vector of zeros is 0. Throws ShapeError for vectors of different lengths, DataError where a
// set is empty.
double association(const Vector& word, std::span<const Vector> a, std::span<const Vector> b);

// Compares the s of the words of x and of y; the effect is 0 where all are equal. Throws DataError for fewer than two
// words in a set, UsageError for fewer than 1 permutation.  Cost: permutations * words.
Association weat(std::span<const double> x, std::span<const double> y, const Permutations& permutations);

}  // namespace heddle::metrics
