#include "heddle/heads/naive_bayes.hpp"

#include <algorithm>

namespace heddle::heads {

NaiveBayes::NaiveBayes(const Scope& scope, Index rows, Index classes)
    : weight_(scope.parameter("weight", {rows, classes}, Initializer::zeros(), Decay::no)) {}

std::vector<Real> NaiveBayes::operator()(std::span<const Index> features) const {
  std::vector<Real> evidence(static_cast<std::size_t>(classes()), Real(0));
  for (const Index feature : features) {
    const Tensor row = weight_.value().narrowed(0, feature, 1).as(Element::real);
    for (std::size_t c = 0; c < evidence.size(); ++c) evidence[c] += row[static_cast<Index>(c)];
  }
  return evidence;
}

void NaiveBayes::set(std::span<const Real> weight) const {
  std::copy(weight.begin(), weight.end(), weight_.value().data());
}

}  // namespace heddle::heads
