// Rotary positions: pair k of a query or key at position t is turned by the angle t base^(-2k / head_width), so that
// scores depend on the distance alone (SPEC 2.5).  Source: Su et al. 2021, "RoFormer", 3.2.
// Settings: base, 10000 by default; scaling and factor, for texts `factor` times longer than those trained on: `linear`
// divides positions by the factor (Chen et al. 2023, "Extending context window of large language models via positional
// interpolation"), `ntk` multiplies the base by factor^(w / (w - 2)), w the head width, so that the fastest pair keeps
// its angle and the slowest has that of `linear`; interleaved, 1 for pairs of neighbours as in that paper, 0 for
// elements k and k + head_width / 2 as GPT-NeoX and Llama pair them (the default: the same model with its rows in
// another order, and faster).
#include <algorithm>
#include <cmath>

#include "libcore/ops/rotation.hpp"
#include "libcore/positions/growing_table.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

class RotaryLayer : public AttentionPositions {
 public:
  RotaryLayer(Index head_width, ops::Angles angles, ops::Pairing pairing)
      : pairing_(pairing),
        tables_([head_width, angles](Index positions) { return ops::rotation_tables(positions, head_width, angles); }) {
  }

  bool rotates() const override { return true; }
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    return {rotated(query, places.queries), rotated(key, places.keys)};
  }

 private:
  Variable rotated(const Variable& x, const std::vector<Index>& starts) const {
    const Index first = starts.empty() ? 0 : *std::ranges::max_element(starts);
    return ops::rotate(x, tables_.at_least(first + x.shape()[2]), pairing_, starts);
  }

  ops::Pairing pairing_;
  GrowingTable<ops::RotationTables> tables_;
};

}  // namespace

std::shared_ptr<const Positions> make_RotaryPositions(Settings& settings, const Scope&, const PositionShape& shape) {
  check<UsageError>(shape.head_width % 2 == 0, "rope rotates pairs, so the head width must be even, not ",
                    shape.head_width);
  const double base = settings.number({"base", "of the wavelengths"}, 10000, 1, 1e9);
  const std::string scaling =
      settings.word({"scaling", "for texts longer than those trained on"}, "none", {"none", "linear", "ntk"});
  const double factor = settings.number({"factor", "how much longer they are"}, 1, 1, 1e6),
               width = static_cast<double>(shape.head_width);
  check<UsageError>(scaling != "none" || factor == 1, "rope:factor=", factor,
                    " needs a scaling, rope:scaling=linear or rope:scaling=ntk");
  check<UsageError>(scaling == "none" || factor > 1, "rope:scaling=", scaling,
                    " needs a factor above 1, rope:factor=X");
  check<UsageError>(scaling != "ntk" || shape.head_width > 2, "rope:scaling=ntk needs a head width of at least 4");
  const bool interleaved = settings.flag({"interleaved", "1 for pairs of neighbours"}, false);
  return same_in_every_layer(
      std::make_shared<RotaryLayer>(shape.head_width,
                                    ops::Angles{scaling == "ntk" ? base * std::pow(factor, width / (width - 2)) : base,
                                                scaling == "linear" ? 1 / factor : 1.0},
                                    interleaved ? ops::Pairing::interleaved : ops::Pairing::halves));
}

}  // namespace heddle
