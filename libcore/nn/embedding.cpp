#include "libcore/nn/embedding.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/embedding.hpp"

namespace heddle::nn {

Embedding::Embedding(const Scope& scope, Index vocab, Index width, double stddev)
    : weight_(scope.parameter("weight", {vocab, width}, Initializer::normal(stddev), Decay::yes)) {}

Variable Embedding::operator()(const TokenIds& ids) const {
  const char* const outer = Part::current();
  const Part part(outer == nullptr ? parts::token_embeddings : outer);
  return ops::embed(ids, weight_);
}

}  // namespace heddle::nn
