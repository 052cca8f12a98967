// score_ij = scale q_i . (k_j + p_o), and perhaps y_i = sum_j w_ij (v_j + r_o), with a learned vector for each offset
// o = j - i, clipped to a reach (SPEC 2.3). Source: Shaw et al. 2018, "Self-attention with relative position
// representations", equations 3 and 4; heads share the vectors, layers do not.
// Settings: reach, 16; values, 1 for vectors of values, too, 0 for keys alone (the default). Parameters: key and value,
// [2 reach + 1, head_width] each, or [reach + 1, head_width] where no query sees keys after it.
#include <algorithm>

#include "libcore/positions/offset_scores.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

class RelativeVectorLayer : public AttentionPositions {
 public:
  RelativeVectorLayer(Variable key, Variable value, Index reach)
      : key_(std::move(key)), value_(std::move(value)), reach_(reach) {}

  PositionNeeds needs() const override {
    const bool of_values = !value_.empty();
    return {.relative = true, .offset_values = of_values, .key_for_each_head = of_values};
  }
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    const Index zero = std::min(reach_, places.key_time - 1);
    const Variable table = view(near(key_, zero), [](const Tensor& t) {
      return t.reshaped({1, t.shape()[0], t.shape()[1]});
    });
    PositionedHeads result{query, key, {.query = {ops::offset_products(query, table), zero}}};
    if (!value_.empty()) result.offsets.value = {near(value_, zero), zero};
    return result;
  }

 private:
  // The rows of offsets from -zero on, as far as keys are: those of far offsets would cost as much.
  Variable near(const Variable& table, Index zero) const {
    return view(as_reals(table), [first = reach_ - zero, zero](const Tensor& t) {
      return t.narrowed(0, first, std::min(2 * zero + 1, t.shape()[0] - first));
    });
  }

  Variable key_, value_;
  Index reach_;
};

}  // namespace

std::shared_ptr<const Positions> make_RelativeVectors(Settings& settings, const Scope&, const PositionShape& shape) {
  const Index reach = settings.index({"reach", "distance beyond which all are one"}, 16, 1, 100000);
  const bool values = settings.flag({"values", "1 for vectors of values, too"}, false);
  return made_for_each_layer([shape, reach, values](const Scope& scope) {
    const auto table = [&](const char* name) {
      const Index offsets = shape.causal ? reach + 1 : 2 * reach + 1;
      return scope.parameter(name, {offsets, shape.head_width}, Initializer::normal(shape.stddev), Decay::yes);
    };
    const Variable key = table("key");
    return std::make_shared<RelativeVectorLayer>(key, values ? table("value") : Variable(), reach);
  });
}

}  // namespace heddle
