// The head that predicts masked tokens.
#pragma once

#include "libcore/heads/token_head.hpp"
#include "libcore/nn/embedding.hpp"
#include "libcore/nn/norm.hpp"

namespace heddle::heads {

struct MaskedLanguageModelOptions {
  Index vocab, width;
  Activation activation = Activation::gelu;
  nn::NormOptions norm{};
  nn::Bias bias = nn::Bias::yes;
  double stddev = 0.02, embedding_stddev = 0.02;
  Index embedding_width = 0;  // width of the output matrix; 0: width
};

// logits = norm(f(h W^T + b)) E^T + c with the embedding's own matrix (tied), or with a matrix of its own.
// Source: Devlin et al. 2019, "BERT", whose released code has the dense layer and the norm.
// Parameters: dense/weight [embedding_width, width], dense/bias, norm/gain, norm/bias, bias [vocab]; weight [vocab,
// embedding_width] if not tied. Apply it only to the hidden states of masked tokens.
class MaskedLanguageModel : public TokenHead {
 public:
  // The second form has a matrix of its own.
  MaskedLanguageModel(const Scope& scope, const MaskedLanguageModelOptions& options, const nn::Embedding& tied);
  MaskedLanguageModel(const Scope& scope, const MaskedLanguageModelOptions& options);

  Variable operator()(const Variable& hidden) const override;
  Variable loss(const Variable& hidden, const std::vector<TokenId>& targets,
                const ops::CrossEntropy& options) const override;

 private:
  MaskedLanguageModel(const Scope& scope, const MaskedLanguageModelOptions& options, Variable weight);

  Activation activation_;
  nn::Linear dense_;
  nn::Norm norm_;
  Variable weight_, bias_;
};

}  // namespace heddle::heads
