#include "heddle/heads/language_model.hpp"

#include "heddle/ops/linear.hpp"

namespace heddle::heads {

Variable LanguageModel::operator()(const Variable& hidden) const {
  return ops::linear(hidden, weight_, {}, {.output = DType::real});
}

Variable LanguageModel::loss(const Variable& hidden, const std::vector<TokenId>& targets,
                             const ops::CrossEntropy& options) const {
  return ops::linear_cross_entropy(hidden, weight_, targets, options);
}

}  // namespace heddle::heads
