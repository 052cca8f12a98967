// ALiBi: score_ij -= m_h |i - j| with a fixed slope m_h per head: m_h = 2^(-8 h / n), h = 1 … n, for n heads if n is a
// power of two; else those of the next lower power p, then every other one of 2 p (SPEC 2.5). Source: Press et al.
// 2022, "Train short, test long", section 3, and its published code for other n.
#include <bit>
#include <cmath>

#include "libcore/positions/growing_table.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

std::vector<double> slopes(Index heads) {
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const auto slope = [](Index head, Index of) {
    return std::exp2(-8.0 * static_cast<double>(head) / static_cast<double>(of));
  };
  std::vector<double> all;
  for (Index head = 1; head <= power; ++head) all.push_back(slope(head, power));
  for (Index head = 1; static_cast<Index>(all.size()) < heads; head += 2) all.push_back(slope(head, 2 * power));
  return all;
}

// [heads, 2 positions - 1]
Tensor penalties(Index positions, Index heads) {
  const Index reach = positions - 1, width = 2 * reach + 1;
  const Tensor table({heads, width});
  const std::vector<double> slope = slopes(heads);
  parallel_for(heads, [&](Index head) {
    for (Index i = 0; i < width; ++i) {
      const auto distance = static_cast<double>(std::abs(i - reach));
      table[head * width + i] = static_cast<Real>(-slope[static_cast<std::size_t>(head)] * distance);
    }
  });
  return table;
}

class LinearBiasLayer : public AttentionPositions {
 public:
  explicit LinearBiasLayer(Index heads) : table_([heads](Index positions) { return penalties(positions, heads); }) {}
  PositionNeeds needs() const override { return {.bias = true}; }
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    return {query, key, {.bias = Variable(table_.at_least(places.key_time))}};
  }

 private:
  GrowingTable<Tensor> table_;
};

}  // namespace

std::shared_ptr<const Positions> make_LinearBiases(Settings&, const Scope&, const PositionShape& shape) {
  return same_in_every_layer(std::make_shared<LinearBiasLayer>(shape.heads));
}

}  // namespace heddle
