// x_t = s e_t + p_t, p[t, 2k] = sin(w_k t), p[t, 2k + 1] = cos(w_k t), w_k = 10000^(-2k / width).
// Source: Vaswani et al. 2017, 3.4 and 3.5 (SPEC 2.1, `aiayn`).
// Settings: scaled, 1 for s = sqrt(width) as in that paper (the default), 0 for s = 1; interleaved, 1 as above (the
// default), 0 for all sines before all cosines, as Marian has them: the same model with its columns in another order.
#include <algorithm>
#include <cmath>

#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/embedding.hpp"
#include "heddle/positions/growing_table.hpp"
#include "heddle/positions/positions.hpp"

namespace heddle {

namespace {

// The column of an element of the equation.
Index column_of(Index i, Index width, bool interleaved) {
  return interleaved ? i : i / 2 + i % 2 * ((width + 1) / 2);
}

Tensor sinusoids(Index time, Index width, bool interleaved) {
  const Tensor table({time, width});
  parallel_for(time, [&](Index t) {
    for (Index i = 0; i < width; ++i) {
      const double frequency = std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(width));
      const double angle = frequency * static_cast<double>(t);
      table[t * width + column_of(i, width, interleaved)] =
          static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  });
  return table;
}

class SinusoidalPositions : public Positions {
 public:
  SinusoidalPositions(Index width, bool scaled, bool interleaved)
      : scale_(scaled ? static_cast<Real>(std::sqrt(static_cast<double>(width))) : Real(1)),
        table_([width, interleaved](Index time) { return sinusoids(time, width, interleaved); }) {}

  Variable embed(const Variable& x, const std::vector<Index>& starts) const override {
    const Index batch = x.shape()[0], time = x.shape()[1];
    const Variable scaled = scale_ == 1 ? x : ops::scale(x, scale_);
    if (starts.empty()) return ops::add_to_each(scaled, Variable(table_.with(time).narrowed(0, 0, time)));
    const Tensor table = table_.with(time + *std::ranges::max_element(starts));
    TokenIds rows(Shape{batch, time});
    for (Index b = 0; b < batch; ++b) {
      for (Index t = 0; t < time; ++t) {
        rows.ids[static_cast<std::size_t>(b * time + t)] =
            static_cast<TokenId>(starts[static_cast<std::size_t>(b)] + t);
      }
    }
    return ops::add(scaled, ops::embed(rows, Variable(table)));
  }

 private:
  Real scale_;
  GrowingTable<Tensor> table_;
};

}  // namespace

std::shared_ptr<const Positions> make_SinusoidalPositions(Settings& settings, const Scope&,
                                                          const PositionShape& shape) {
  const bool scaled = settings.index("scaled", 1, 0, 1) == 1;
  const bool interleaved = settings.index("interleaved", 1, 0, 1) == 1;
  return std::make_shared<SinusoidalPositions>(shape.width, scaled, interleaved);
}
bool needs_context_SinusoidalPositions() {
  return false;
}

}  // namespace heddle
