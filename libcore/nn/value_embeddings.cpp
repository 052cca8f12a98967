#include "libcore/nn/value_embeddings.hpp"

#include <string>

namespace heddle::nn {

ValueEmbeddings::ValueEmbeddings(const Scope& stack, const Options& options) {
  check<UsageError>(ModelRanks::of(stack) == nullptr,
                    "`tensor_parallel`: ranks do not divide `value_embeddings`; leave one of the two out");
  for (Index i = 0; i < options.tables; ++i) {
    const Scope scope = stack / "embedding" / "value" / i;
    tables_.emplace_back(scope.parameter("weight", {options.vocab, options.width}, Initializer::zeros(), Decay::yes));
  }
  for (Index layer = 0; layer < options.layers; ++layer) {
    const bool has_table = layer < options.tables || layer >= options.layers - options.tables;
    const std::string name = std::to_string(layer);
    scales_.push_back(has_table ? (stack / "value_scale").parameter(name, {1}, Initializer::ones(), Decay::no)
                                : Variable());
  }
}

std::vector<AddedValues> ValueEmbeddings::operator()(const TokenIds& ids) const {
  std::vector<Variable> vectors;
  for (const Embedding& table : tables_) vectors.push_back(table(ids));
  std::vector<AddedValues> added(scales_.size());
  const std::size_t tables = tables_.size(), layers = scales_.size();
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (scales_[layer].empty()) continue;
    added[layer] = {vectors[layer < tables ? layer : layer - (layers - tables)], scales_[layer]};
  }
  return added;
}

}  // namespace heddle::nn
