// The head that predicts tokens.
#pragma once

#include "heddle/nn/embedding.hpp"

namespace heddle::heads {

// logits = h E^T with the embedding's own matrix (tied; Press and Wolf 2017) or with a matrix of its own.
// Parameters: none when tied, else weight [vocab, width].
class LanguageModel {
 public:
  explicit LanguageModel(const nn::Embedding& tied) : weight_(tied.weight()) {}
  LanguageModel(const Scope& scope, Index vocab, Index width, double deviation)
      : weight_(scope.parameter("weight", {vocab, width}, Initializer::normal(deviation), Decay::yes)) {}

  // hidden [..., width] -> [..., vocab]
  Variable operator()(const Variable& hidden) const;

 private:
  Variable weight_;
};

}  // namespace heddle::heads
