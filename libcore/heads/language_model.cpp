#include "heddle/heads/language_model.hpp"

#include "heddle/ops/linear.hpp"

namespace heddle::heads {

Variable LanguageModel::operator()(const Variable& hidden) const { return ops::linear(hidden, weight_); }

}  // namespace heddle::heads
