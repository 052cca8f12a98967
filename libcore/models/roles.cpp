#include "libcore/models/roles.hpp"

#include <algorithm>

#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::models {

Variable ContextualVectors::hidden_at(const std::vector<Index>& positions, const Sequences& sequences,
                                      const Pass& pass) const {
  return ops::gather_positions(hidden(sequences, pass), positions);
}

Variable ContextualVectors::summary(const Variable& first) const {
  return view(first, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2]}); });
}

namespace {

// The last `most` positions of both.
Tensor last_of(const Tensor& before, const Tensor& x, Index most) {
  const Index batch = x.shape()[0], time = x.shape()[1], width = x.shape()[2];
  const Index earlier = before.empty() ? 0 : before.shape()[1], count = std::min(most, earlier + time);
  const Index kept = std::max<Index>(0, count - time), added = count - kept;
  const Tensor last({batch, count, width});
  if (kept > 0) last.narrowed(1, 0, kept).assign(before.narrowed(1, earlier - kept, kept));
  if (added > 0) last.narrowed(1, kept, added).assign(x.narrowed(1, time - added, added));
  return last;
}

}  // namespace

std::vector<AttentionMap> AttentionMaps::all_attention_maps(const Sequences& sequences) const {
  std::vector<AttentionMap> maps;
  attention_maps(sequences, [&](const AttentionMap& map) { maps.push_back(map); });
  return maps;
}

Continued hidden_after(const ContextualVectors& model, const TokenIds& ids, const EarlierStates& earlier, Index most,
                       const Pass& pass) {
  Sequences sequences(ids);
  sequences.earlier = std::make_shared<const EarlierStates>(earlier);
  Continued result;
  result.states.window = earlier.window;
  const auto layers = static_cast<std::size_t>(model.layers());
  const auto remember = [&](const Variable& x) {
    const std::size_t layer = result.states.layers.size();
    if (layer == layers || most == 0) return;  // the last one's output, or nothing to keep
    const Tensor before = earlier.layers.empty() ? Tensor() : earlier.layers[layer];
    result.states.layers.push_back(last_of(before, x.value(), most));
  };
  result.hidden = model.hidden(sequences, pass, remember);
  return result;
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

void GeneratorState::check_step(const TokenIds& ids, const std::vector<Index>& added) const {
  check<ShapeError>(ids.shape.rank() == 2 && ids.shape[0] == batch() && static_cast<Index>(added.size()) == batch(),
                    "a step of shape ", ids.shape, " for a batch of ", batch());
  for (const Index count : added) {
    check<ShapeError>(count >= 1 && count <= ids.shape[1], "a row adds ", count, " of ", ids.shape[1], " tokens");
  }
}

void GeneratorState::advance(const std::vector<Index>& added) {
  for (std::size_t row = 0; row < added.size(); ++row) seen_[row] += added[row];
}

Tensor last_added(const Tensor& x, const std::vector<Index>& added) {
  const Index batch = x.shape()[0], width = x.shape()[2];
  const Tensor last({batch, width});
  for (Index b = 0; b < batch; ++b) {
    const Tensor from = x.narrowed(0, b, 1).narrowed(1, added[static_cast<std::size_t>(b)] - 1, 1);
    last.narrowed(0, b, 1).assign(from.copy().reshaped({1, width}));
  }
  return last;
}

namespace {

// Description of the first of these roles that the model has; empty if it has none.
template <class... Roles>
std::string first_of(const Model& model) {
  std::string_view ability;
  (void)((model.as<Roles>() != nullptr && (ability = Roles::ability, true)) || ...);
  return std::string(ability);
}

// The main purpose of a model comes before its other uses.
std::string what_it_does(const Model& model) {
  return first_of<SequenceToSequence, MixedPredictor, TokenLoss, BidirectionalLoss, ReplacementDetector,
                  MaskedPredictor, PermutationPredictor, NodeVectors, UpdateRule, ContextualVectors>(model);
}

}  // namespace

void detail::refuse_role(const Model& model, std::string_view ability, std::string_view user, std::string_view path) {
  const std::string others = architectures_with(ability, model.config().arch());
  throw DataError(concatenate(path, ": is of the architecture ", model.config().arch(), ", which ", what_it_does(model),
                              "; ", user, " needs a model that ", ability,
                              others.empty() ? "" : ", of the architecture " + others));
}

}  // namespace heddle::models
