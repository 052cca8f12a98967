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

namespace {

// How to make a model that plays a role. Asked of small models without weights, so that no list of roles has to be kept.
std::string how_to_make(bool (*play)(const Model&)) {
  std::vector<std::string> names;
  for (const auto& [architecture, name] : Names<Architecture>::list) {
    const ModelConfig small{.arch = architecture, .layers = 1, .width = 1, .heads = 1, .context = 1, .vocab_size = 1};
    if (play(*make_model(small, ParameterSource::unset()))) names.emplace_back(name);
  }
  return names.empty() ? "" : " (pretrain --arch " + join(names, " or ") + ")";
}

std::string what_it_does(const Model& model) {
  if (model.as<Generator>() != nullptr) return std::string(Generator::what);
  if (model.as<TokenLoss>() != nullptr) return std::string(TokenLoss::what);
  if (model.as<MaskedPredictor>() != nullptr) return std::string(MaskedPredictor::what);
  return std::string(ContextualVectors::what);
}

}  // namespace

void detail::refuse_role(const Model& model, const Wanted& role, std::string_view user, std::string_view path) {
  throw DataError(concatenate(path, ": is of the architecture ", to_text(model.config().arch), ", which ",
                              what_it_does(model), "; ", user, " needs a model that ", role.what,
                              how_to_make(role.is_played_by)));
}

}  // namespace heddle::models
