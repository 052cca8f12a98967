// Naive Bayes as a part of a classifier.
#pragma once

#include <span>
#include <vector>

#include "heddle/autograd/parameters.hpp"

namespace heddle::heads {

// What naive Bayes adds to a classifier's logits: for the features F of a text, which are rows of a table,
//   evidence_c = sum_{f in F} weight_fc,  weight_fc = k log p(f | c) less its mean over the classes
// and 0 for features that were never seen. How likely the classes are before anything is read is left to the logits.
// The table is counted, not trained (training/naive_bayes.hpp).
// Source: Wang and Manning 2012, "Baselines and bigrams"; added to a network's scores: Mesnil et al. 2014, "Ensemble of
// generative and discriminative techniques for sentiment analysis of movie reviews".
// Parameter: weight [rows, classes].
class NaiveBayes {
 public:
  NaiveBayes(const Scope& scope, Index rows, Index classes);

  Index rows() const { return weight_.shape()[0]; }
  Index classes() const { return weight_.shape()[1]; }
  // [classes]. Precondition: 0 <= feature < rows().
  std::vector<Real> operator()(std::span<const Index> features) const;
  // [rows * classes]
  void set(std::span<const Real> weight) const;

 private:
  Variable weight_;
};

}  // namespace heddle::heads
