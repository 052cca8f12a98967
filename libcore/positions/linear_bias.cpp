// score_ij += lambda (i - j), or lambda |i - j|, with a learned lambda for each head of each layer. Since rows of
// scores are shifted freely before their softmax, lambda (i - j) prefers one end of a text rather than near keys where
// keys after the query are seen, too (SPEC 2.5): there, |i - j| is the default. ALiBi is the same with fixed factors.
// Settings: distance, `signed` or `absolute`; start, lambda before training, 0. Parameter: factor [heads].
#include <cmath>

#include "libcore/ops/linear.hpp"
#include "libcore/positions/growing_table.hpp"
#include "libcore/positions/offset_scores.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

// i - j, or its absolute value, for each offset j - i: [2 positions - 1, 1].
Tensor distances(Index positions, bool absolute) {
  const Index reach = positions - 1;
  const Tensor table({2 * reach + 1, 1});
  for (Index i = 0; i <= 2 * reach; ++i) table[i] = static_cast<Real>(absolute ? std::abs(reach - i) : reach - i);
  return table;
}

class LearnedLinearBias : public AttentionPositions {
 public:
  LearnedLinearBias(Variable factors, bool absolute)
      : factors_(std::move(factors)),
        distances_([absolute](Index positions) { return distances(positions, absolute); }) {}

  PositionNeeds needs() const override { return {.bias = true}; }
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    const Variable factors = view(as_reals(factors_), [](const Tensor& t) { return t.reshaped({t.size(), 1}); });
    return {
        query,
        key,
        {.bias = ops::linear(factors, Variable(distances_.at_least(places.key_time)), {}, {.output = DType::real})}};
  }

 private:
  Variable factors_;
  GrowingTable<Tensor> distances_;
};

}  // namespace

std::shared_ptr<const Positions> make_LearnedLinearBiases(Settings& settings, const Scope&,
                                                          const PositionShape& shape) {
  const std::string distance =
      settings.word({"distance", "i - j, or its absolute value"}, "auto", {"auto", "signed", "absolute"});
  const bool absolute = distance == "absolute" || (distance == "auto" && !shape.causal);
  const Initializer start{Initializer::Kind::constant,
                          settings.number({"start", "the number before training"}, 0, -1000, 1000)};
  return made_for_each_layer([heads = shape.heads, absolute, start](const Scope& scope) {
    return std::make_shared<LearnedLinearBias>(scope.parameter("factor", {heads}, start, Decay::no), absolute);
  });
}

}  // namespace heddle
