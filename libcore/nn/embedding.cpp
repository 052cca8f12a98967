#include "libcore/nn/embedding.hpp"
#include "libcore/nn/embedding_gates.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/embedding.hpp"

namespace heddle::nn {

Embedding::Embedding(const Scope& scope, Index vocab, Index width, double stddev)
    : weight_(scope.parameter("weight", {vocab, width}, Initializer::normal(stddev), Decay::yes)) {}

Variable Embedding::operator()(const TokenIds& ids) const {
  const char* const outer = Part::current();
  const Part part(outer == nullptr ? parts::token_embeddings : outer);
  const Variable vectors = ops::embed(ids, weight_);
  EmbeddingGates* const gates = EmbeddingGates::current();
  return gates == nullptr ? vectors : gates->gated(ids, vectors, weight_.value());
}

}  // namespace heddle::nn
