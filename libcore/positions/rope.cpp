// Rotary positions: pair k of a query or key at position t is turned by the angle t base^(-2k / head_width), so that
// scores depend on the distance alone (SPEC 2.5).  Source: Su et al. 2021, "RoFormer", 3.2.
// Settings: base, 10000 by default; interleaved, 1 for pairs of neighbours as in that paper, 0 for elements k and
// k + head_width / 2 as GPT-NeoX and Llama pair them (the default: the same model with its rows in another order, and
// faster).
#include <algorithm>

#include "heddle/ops/rotation.hpp"
#include "heddle/positions/growing_table.hpp"
#include "heddle/positions/positions.hpp"

namespace heddle {

namespace {

class RotaryLayer : public AttentionPositions {
 public:
  RotaryLayer(Index head_width, double base, ops::Pairing pairing)
      : pairing_(pairing),
        tables_([head_width, base](Index positions) { return ops::rotation_tables(positions, head_width, base); }) {}

  Variable transform(const Variable& x, const std::vector<Index>& starts) const override {
    const Index first = starts.empty() ? 0 : *std::ranges::max_element(starts);
    return ops::rotate(x, tables_.with(first + x.shape()[2]), pairing_, starts);
  }

 private:
  ops::Pairing pairing_;
  GrowingTable<ops::RotationTables> tables_;
};

// Every layer turns alike, by the same tables.
class RotaryPositions : public Positions {
 public:
  explicit RotaryPositions(std::shared_ptr<const RotaryLayer> layer) : layer_(std::move(layer)) {}
  std::shared_ptr<const AttentionPositions> for_layer(const Scope&) const override { return layer_; }

 private:
  std::shared_ptr<const AttentionPositions> layer_;
};

}  // namespace

std::shared_ptr<const Positions> make_RotaryPositions(Settings& settings, const Scope&, const PositionShape& shape) {
  check<UsageError>(shape.head_width % 2 == 0, "rope rotates pairs, so the head width must be even, not ",
                    shape.head_width);
  const double base = settings.number("base", 10000, 1, 1e9);
  const bool interleaved = settings.index("interleaved", 0, 0, 1) == 1;
  return std::make_shared<RotaryPositions>(std::make_shared<RotaryLayer>(
      shape.head_width, base, interleaved ? ops::Pairing::interleaved : ops::Pairing::halves));
}
bool needs_context_RotaryPositions() {
  return false;
}

}  // namespace heddle
