#include "libcore/heads/masked_language_model.hpp"
#include "libcore/nn/parts.hpp"

namespace heddle::heads {

namespace {

Index output_width(const MaskedLanguageModelOptions& options) {
  return options.embedding_width > 0 ? options.embedding_width : options.width;
}

}  // namespace

MaskedLanguageModel::MaskedLanguageModel(const Scope& scope, const MaskedLanguageModelOptions& options, Variable weight)
    : activation_(options.activation),
      dense_(scope / "dense", options.width, output_width(options), options.bias, options.stddev),
      norm_(scope / "norm", output_width(options), options.norm),
      weight_(std::move(weight)) {
  scope.mark_output(weight_);
  if (options.bias == nn::Bias::yes) bias_ = scope.parameter("bias", {options.vocab}, Initializer::zeros(), Decay::no);
}

MaskedLanguageModel::MaskedLanguageModel(const Scope& scope, const MaskedLanguageModelOptions& options,
                                         const nn::Embedding& tied)
    : MaskedLanguageModel(scope, options, tied.weight()) {}

MaskedLanguageModel::MaskedLanguageModel(const Scope& scope, const MaskedLanguageModelOptions& options)
    : MaskedLanguageModel(scope, options,
                          scope.parameter("weight", {options.vocab, output_width(options)},
                                          Initializer::normal(options.embedding_stddev), Decay::yes)) {}

Variable MaskedLanguageModel::operator()(const Variable& hidden) const {
  const Part part(nn::parts::output);
  const Variable dense = dense_(hidden, {.activation = activation_, .output = DType::real});
  return ops::linear(norm_(dense, nn::Norm::Result::activation), weight_, bias_, {.output = DType::real});
}

Variable MaskedLanguageModel::loss(const Variable& hidden, const std::vector<TokenId>& targets,
                                   const ops::CrossEntropy& options) const {
  const Part part(nn::parts::output);
  return ops::cross_entropy((*this)(hidden), targets, options);
}

}  // namespace heddle::heads
