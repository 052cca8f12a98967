// A vector for each token.
#pragma once

#include "libcore/autograd/parameters.hpp"

namespace heddle::nn {

// Parameters: weight [vocab, width].
class Embedding {
 public:
  Embedding(const Scope& scope, Index vocab, Index width, double stddev);
  // Another module's table, which both use.
  explicit Embedding(Variable weight) : weight_(std::move(weight)) {}
  // ids [batch, time] -> [batch, time, width]
  Variable operator()(const TokenIds& ids) const;
  const Variable& weight() const { return weight_; }

 private:
  Variable weight_;
};

}  // namespace heddle::nn
