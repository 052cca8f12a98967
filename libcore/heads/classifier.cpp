#include "libcore/heads/classifier.hpp"

namespace heddle::heads {

namespace {
constexpr double stddev = 0.02;
}

Classifier::Classifier(const Scope& scope, Index width, Index classes)
    : dense_(scope, width, classes, nn::Bias::yes, stddev), dropout_site_(random_site(scope.path() + "/dropout")) {}

Variable Classifier::operator()(const Variable& hidden, const Pass& pass) const {
  return dense_(pass.drop(hidden, dropout_site_), {.output = DType::real});
}

Variable Classifier::token_logits(const Variable& hidden, const std::vector<Index>& positions, Index time,
                                  const Pass& pass) const {
  return dense_(pass.drop_rows(hidden, dropout_site_, positions, time), {.output = DType::real});
}

Span::Span(const Scope& scope, Index width) : start_(scope / "start", width, 1), end_(scope / "end", width, 1) {}

Span::Scores Span::operator()(const Variable& hidden, const Pass& pass) const {
  const auto as_matrix = [](const Variable& scores) {
    return view(scores, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[1]}); });
  };
  return {as_matrix(start_(hidden, pass)), as_matrix(end_(hidden, pass))};
}

}  // namespace heddle::heads
