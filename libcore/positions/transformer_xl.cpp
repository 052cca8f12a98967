// score_ij = scale ((q_i + u) . k_j + (q_i + v) . W r_(i-j)), r_d the sines and cosines of the distance d, u and v
// learned for each head, W, u and v of each layer (SPEC 2.6). Source: Dai et al. 2019, "Transformer-XL", section 3.3;
// sines come before cosines, as in the published code. Settings: clamp, the distance beyond which all are one, or 0 for
// none (the default). Parameters: weight [heads * head_width, width], content_bias and position_bias [heads,
// head_width].
#include <algorithm>
#include <cmath>

#include "libcore/ops/heads.hpp"
#include "libcore/positions/growing_table.hpp"
#include "libcore/positions/offset_scores.hpp"
#include "libcore/positions/positions.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

// Row c is of distance zero - c: [offsets, width].
Tensor sinusoids_of_distances(Index offsets, Index zero, Index width) {
  const Tensor table({offsets, width});
  const Index sines = (width + 1) / 2;
  parallel_for(offsets, [&](Index row) {
    for (Index i = 0; i < width; ++i) {
      const Index pair = i < sines ? i : i - sines;
      const double frequency = std::pow(10000.0, -2 * static_cast<double>(pair) / static_cast<double>(width));
      const double angle = frequency * static_cast<double>(zero - row);
      table[row * width + i] = static_cast<Real>(i < sines ? std::sin(angle) : std::cos(angle));
    }
  });
  return table;
}

using Table = GrowingTable<Tensor>;

class RelativeSinusoidLayer : public AttentionPositions {
 public:
  RelativeSinusoidLayer(const Scope& scope, const PositionShape& shape, Index clamp, std::shared_ptr<const Table> table)
      : shape_(shape),
        clamp_(clamp),
        table_(std::move(table)),
        weight_(scope.parameter("weight", {shape.heads * shape.head_width, shape.width_of_states()},
                                Initializer::normal(shape.stddev), Decay::yes)),
        content_bias_(bias(scope, "content_bias")),
        position_bias_(bias(scope, "position_bias")) {}

  PositionNeeds needs() const override { return {.relative = true}; }
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    const Index farthest = places.key_time - 1, reach = clamp_ > 0 ? std::min(clamp_, farthest) : farthest;
    const Index offsets = shape_.causal ? reach + 1 : 2 * reach + 1;
    const Tensor table = table_->at_least(reach + 1);
    const Index zero = shape_.causal ? table.shape()[0] - 1 : table.shape()[0] / 2;
    const Variable vectors(table.narrowed(0, zero - reach, offsets));
    const Variable asking = ops::shift_heads(query, position_bias_, 1);
    return {
        ops::shift_heads(query, content_bias_, 1), key, {.query = {offset_scores(asking, vectors, weight_), reach}}};
  }

 private:
  Variable bias(const Scope& scope, const char* name) const {
    return scope.parameter(name, {shape_.heads, shape_.head_width}, Initializer::normal(shape_.stddev), Decay::no);
  }

  PositionShape shape_;
  Index clamp_;
  std::shared_ptr<const Table> table_;
  Variable weight_, content_bias_, position_bias_;
};

}  // namespace

std::shared_ptr<const Positions> make_RelativeSinusoids(Settings& settings, const Scope&, const PositionShape& shape) {
  const Index clamp = settings.index({"clamp", "distance beyond which all are one; 0 for none"}, 0, 0, 10000000);
  const auto table = std::make_shared<const Table>([shape](Index distances) {
    return sinusoids_of_distances(shape.causal ? distances : 2 * distances - 1, distances - 1, shape.width_of_states());
  });
  return made_for_each_layer([shape, clamp, table](const Scope& scope) {
    return std::make_shared<RelativeSinusoidLayer>(scope, shape, clamp, table);
  });
}

}  // namespace heddle
