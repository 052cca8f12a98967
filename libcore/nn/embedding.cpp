#include "heddle/nn/embedding.hpp"

#include "heddle/ops/embedding.hpp"

namespace heddle::nn {

Embedding::Embedding(const Scope& scope, Index vocab, Index width, double stddev)
    : weight_(scope.parameter("weight", {vocab, width}, Initializer::normal(stddev), Decay::yes)) {}

Variable Embedding::operator()(const TokenIds& ids) const {
  return ops::embed(ids, weight_);
}

}  // namespace heddle::nn
