#include "libcore/nn/model_ranks.hpp"

#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::nn {

namespace {

// State shared with scopes.
struct SharedBy {
  const ModelRanks* ranks;
};

}  // namespace

Tensor part_of(const Tensor& whole, const PartOfWhole& part, const Shape& shape) {
  return whole.narrowed(part.dimension, part.begin, shape[part.dimension]);
}

ParameterSource ModelRanks::divided(const ParameterSource& whole) const {
  if (!share()) return whole;
  const auto function = [this, whole](const Declaration& declaration) {
    const PartOfWhole* const part = part_of(declaration.names.front());
    if (part == nullptr) return whole(declaration);
    Shape shape = declaration.shape;
    shape.set(part->dimension, part->whole);
    const Tensor all(declaration.stacked_shape());
    Index row = 0;
    for (const std::string& name : declaration.names) {  // one at a time, to save memory
      const Tensor values = whole({{name}, shape, declaration.initializer});
      all.narrowed(0, row, declaration.shape[0]).assign(nn::part_of(values, *part, declaration.shape));
      row += declaration.shape[0];
    }
    return all;
  };
  const auto rate = [whole](std::string_view name) { return whole.rate_of({{std::string(name)}, {}, {}}); };
  return ParameterSource::given(function).trained_at(rate).with_settings(SharedBy{this});
}

const PartOfWhole* ModelRanks::part_of(std::string_view parameter) const {
  const auto found = parts_.find(parameter);
  return found == parts_.end() ? nullptr : &found->second;
}

Index ModelRanks::count(const Parameters& parameters) const {
  Index sum = 0;
  for (const Parameter& parameter : parameters.all()) {
    const PartOfWhole* const part = part_of(parameter.name);
    sum += part == nullptr ? parameter.size()
                           : parameter.size() / parameter.value().shape()[part->dimension] * part->whole;
  }
  return sum;
}

void ModelRanks::check_divides(const Parameters& parameters) const {
  if (!share()) return;
  for (const Parameter& parameter : parameters.all()) {
    if (part_of(parameter.name) != nullptr) return;
  }
  throw UsageError(
      "`tensor_parallel`: ranks divide heads of attention and feed-forward layers of transformers, which this "
      "model does not have");
}

const ModelRanks* ModelRanks::of(const Scope& scope) {
  const auto* const shared = scope.settings<SharedBy>();
  return shared == nullptr ? nullptr : shared->ranks;
}

Index ModelRanks::part(std::string_view field, Index count) const {
  check<UsageError>(count % group_.size() == 0, "`tensor_parallel` = ", group_.size(), " does not divide `", field,
                    "` = ", count, "; give a number that divides it");
  return count / group_.size();
}

Variable divided_parameters(const Scope& scope, const std::vector<std::string>& names, const Shape& whole,
                            int dimension, const Initializer& initializer, Decay decay) {
  Shape shape = whole;
  if (const ModelRanks* const ranks = ModelRanks::of(scope)) {
    const Index all = whole[dimension], own = all / ranks->group().size();
    shape.set(dimension, own);
    for (const std::string& name : names) {
      const std::string path = scope.path().empty() ? name : scope.path() + "/" + name;
      ranks->parts_[path] = {dimension, own * ranks->group().rank(), all};
    }
  }
  return scope.stacked(names, shape, initializer, decay);
}

}  // namespace heddle::nn
