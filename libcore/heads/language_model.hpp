// The head that predicts tokens.
#pragma once

#include "libcore/heads/token_head.hpp"
#include "libcore/nn/embedding.hpp"

namespace heddle::heads {

struct LanguageModelOptions {
  Real scale = 1;
  bool bias = false;
  double cap = 0;  // the logits are c tanh(z / c); 0: z
};

// z = s h E^T + b with the embedding's own matrix (tied; Press and Wolf 2017) or with a matrix of its own; s is 1
// and b absent unless options say so.  Parameters: weight [vocab, width] unless tied; bias [vocab] where there is one.
class LanguageModel : public TokenHead {
 public:
  LanguageModel(const Scope& scope, const nn::Embedding& tied, const LanguageModelOptions& options = {});
  LanguageModel(const Scope& scope, Index vocab, Index width, double stddev, const LanguageModelOptions& options = {});

  Variable operator()(const Variable& hidden) const override;
  // Does not keep all logits.
  Variable loss(const Variable& hidden, const std::vector<TokenId>& targets,
                const ops::CrossEntropy& options) const override;

 private:
  LanguageModel(const Scope& scope, Variable weight, const LanguageModelOptions& options);
  Variable scaled(const Variable& hidden) const;

  Variable weight_, bias_;
  Real scale_ = 1;
  double cap_ = 0;
};

}  // namespace heddle::heads
