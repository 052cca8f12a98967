// Word sense disambiguation: the sense whose examples have the nearest vectors in context.
// Source: Peters et al. 2018, "Deep contextualized word representations", section 5.3; Loureiro et al. 2021, "Analysis
// and evaluation of language models for word sense disambiguation" (SPEC 7.5).
#pragma once

#include <span>

#include "libcore/analysis/nearest.hpp"

namespace heddle::analysis {

struct SenseGuess {
  Index sense = 0;
  double similarity = 0;  // cosine similarity of the nearest vector of this sense
};

class SenseClassifier {
 public:
  // `examples` [count, width] has a sense for each row. With voters = 0 the prediction is the sense whose mean vector
  // is most similar; otherwise the `voters` most similar examples vote, each weighted by its similarity, after the mean
  // of all examples has been subtracted from every vector.
  // Throws ShapeError where there is no example.
  SenseClassifier(const Tensor& examples, std::span<const Index> senses, Index voters);

  // Ties go to the sense with more examples.  Shapes: words [words, width] -> one guess each.
  std::vector<SenseGuess> operator()(const Tensor& words) const;

  Index most_frequent() const { return ranking_.front(); }

 private:
  // Vectors, and the rank of the sense that each is of.
  struct Ranked {
    Tensor vectors;
    std::vector<Index> ranks;
  };
  static std::vector<Index> by_frequency(std::span<const Index> senses);
  Ranked ranked(const Tensor& examples, std::span<const Index> senses) const;
  Ranked centroids(const Tensor& examples, std::span<const Index> senses) const;

  Tensor centred(const Tensor& vectors) const;

  std::vector<Index> ranking_;  // the senses, those with the most examples first
  Index voters_;
  std::vector<Real> origin_;  // is subtracted
  Ranked known_;
  NearestVectors nearest_;
};

}  // namespace heddle::analysis
