// The head that predicts tokens.
#pragma once

#include "heddle/heads/token_head.hpp"
#include "heddle/nn/embedding.hpp"

namespace heddle::heads {

// logits = h E^T with the embedding's own matrix (tied; Press and Wolf 2017) or with a matrix of its own.
// Parameters: none when tied, else weight [vocab, width].
class LanguageModel : public TokenHead {
 public:
  explicit LanguageModel(const nn::Embedding& tied) : weight_(tied.weight()) {}
  LanguageModel(const Scope& scope, Index vocab, Index width, double stddev)
      : weight_(scope.parameter("weight", {vocab, width}, Initializer::normal(stddev), Decay::yes)) {}

  Variable operator()(const Variable& hidden) const override;
  // Without keeping all logits.
  Variable loss(const Variable& hidden, const std::vector<TokenId>& targets,
                const ops::CrossEntropy& options) const override;

 private:
  Variable weight_;
};

}  // namespace heddle::heads
