// T5's relative positions: score_ij += b[bucket(j - i), head], a learned table that the layers of a stack share. Near
// distances have a bucket each, far ones share buckets whose widths grow as their logarithm up to max-distance, and all
// beyond share the last (SPEC 2.4, A3).  Source: Raffel et al. 2020, section 2.1, and its published code.
// Settings: buckets, 32 by default, half of them for keys after the query unless the stack is causal; max-distance,
// 128. Parameter: weight [buckets, heads].
#include <algorithm>
#include <cmath>

#include "libcore/ops/embedding.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

struct Buckets {
  Index count, max_distance;
  bool causal;

  // The bucket of a key `offset` positions after its query.
  Index of(Index offset) const {
    const Index side = causal ? count : count / 2, exact = side / 2;
    const Index first = causal || offset <= 0 ? 0 : side;
    const Index distance = causal ? std::max<Index>(0, -offset) : std::abs(offset);
    if (distance < exact) return first + distance;
    const auto ratio = [exact](Index x) { return std::log(static_cast<double>(x) / static_cast<double>(exact)); };
    // Keeps rounding from moving a distance at the start of a bucket into the previous one.
    constexpr double rounding = 1e-9;
    const double further = ratio(distance) / ratio(max_distance) * static_cast<double>(side - exact) + rounding;
    return first + exact + std::min(side - exact - 1, static_cast<Index>(further));
  }
};

class RelativeScalarLayer : public AttentionPositions {
 public:
  RelativeScalarLayer(Buckets buckets, Variable table) : buckets_(buckets), table_(std::move(table)) {}

  PositionNeeds needs() const override { return {.bias = true}; }
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    return {query, key, {.bias = bias(places.key_time)}};
  }

 private:
  // No further than max_distance, since all beyond have the same bucket.
  Variable bias(Index key_time) const {
    const Index reach = std::min(key_time - 1, buckets_.max_distance);
    TokenIds rows(Shape{2 * reach + 1});
    for (Index i = 0; i <= 2 * reach; ++i) {
      rows.ids[static_cast<std::size_t>(i)] = static_cast<TokenId>(buckets_.of(i - reach));
    }
    return view(ops::embed(rows, table_), [](const Tensor& t) { return t.swapped(0, 1); });
  }

  Buckets buckets_;
  Variable table_;
};

}  // namespace

std::shared_ptr<const Positions> make_RelativeScalars(Settings& settings, const Scope& scope,
                                                      const PositionShape& shape) {
  const Index buckets = settings.index(
      {"buckets", "number of ranges of distances, half of them for later tokens where tokens see both sides"}, 32, 4,
      100000);
  const Index max_distance =
      settings.index({"max-distance", "distance from which all are in the last range"}, 128, 2, 1000000);
  const Index exact = shape.causal ? buckets / 2 : buckets / 4;
  check<UsageError>(shape.causal || buckets % 2 == 0, "relative-scalar:buckets=", buckets,
                    " must be even, one half for keys before a query and one for those after it");
  check<UsageError>(max_distance > exact, "relative-scalar:max-distance=", max_distance, " must be more than the ",
                    exact, " distances that have a bucket each");
  const Variable table =
      scope.parameter("weight", {buckets, shape.heads}, Initializer::normal(shape.stddev), Decay::yes);
  return same_in_every_layer(
      std::make_shared<RelativeScalarLayer>(Buckets{buckets, max_distance, shape.causal}, table));
}

}  // namespace heddle
