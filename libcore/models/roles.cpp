#include "heddle/models/roles.hpp"

#include "heddle/base/strings.hpp"
#include "heddle/models/model.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::models {

Variable ContextualVectors::hidden_at(const std::vector<Index>& positions, const Sequences& sequences,
                                      const Pass& pass) const {
  return ops::gather_positions(hidden(sequences, pass), positions);
}

Variable ContextualVectors::summary(const Variable& first) const {
  return view(first, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2]}); });
}

Variable MaskedPredictor::next_sentence(const Variable&) const {
  throw UsageError("the model has no head that says whether a sentence follows another");
}

void GeneratorState::reorder(const std::vector<Index>& rows) {
  std::vector<Index> seen;
  for (const Index row : rows) seen.push_back(seen_.at(static_cast<std::size_t>(row)));
  seen_ = std::move(seen);
  reorder_layers(rows);
}

void detail::refuse_role(const Model& model, std::string_view what, std::string_view user, std::string_view path) {
  const std::string arch = to_text(model.config().arch);
  throw DataError(concatenate(path, ": ", user, " needs a model that ", what, "; this model's architecture is ", arch));
}

}  // namespace heddle::models
