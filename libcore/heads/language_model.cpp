#include "libcore/heads/language_model.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/activation.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/linear.hpp"

namespace heddle::heads {

LanguageModel::LanguageModel(const Scope& scope, Variable weight, const LanguageModelOptions& options)
    : weight_(std::move(weight)), scale_(options.scale), cap_(options.cap) {
  scope.mark_output(weight_);
  if (options.bias) {
    bias_ = scope.parameter("bias", {weight_.shape()[0]}, Initializer::zeros(), Decay::no);
  }
}

LanguageModel::LanguageModel(const Scope& scope, const nn::Embedding& tied, const LanguageModelOptions& options)
    : LanguageModel(scope, tied.weight(), options) {}

LanguageModel::LanguageModel(const Scope& scope, Index vocab, Index width, double stddev,
                             const LanguageModelOptions& options)
    : LanguageModel(scope, scope.parameter("weight", {vocab, width}, Initializer::normal(stddev), Decay::yes),
                    options) {}

Variable LanguageModel::scaled(const Variable& hidden) const {
  return scale_ == 1 ? hidden : ops::scale(hidden, scale_);
}

Variable LanguageModel::operator()(const Variable& hidden) const {
  const Part part(nn::parts::output);
  const Variable logits = ops::linear(scaled(hidden), weight_, bias_, {.output = DType::real});
  if (cap_ == 0) return logits;
  const auto cap = static_cast<Real>(cap_);
  return ops::scale(ops::activate(ops::scale(logits, 1 / cap), Activation::tanh), cap);
}

Variable LanguageModel::loss(const Variable& hidden, const std::vector<TokenId>& targets,
                             const ops::CrossEntropy& options) const {
  const Part part(nn::parts::output);
  ops::CrossEntropy capped = options;
  capped.cap = cap_;
  return ops::linear_cross_entropy(scaled(hidden), weight_, bias_, targets, capped);
}

}  // namespace heddle::heads
