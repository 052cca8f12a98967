// x_t = s e_t + P[offset + t], one learned vector per position (SPEC 2.2).
// Settings: offset, the table's row of position 0 (RoBERTa's is 2); scaled, 1 for s = sqrt(width) as in some BARTs, 0
// for s = 1 (the default).
// Parameter: weight [offset + context, width].
#include <algorithm>
#include <cmath>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/embedding.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

class LearnedPositions : public Positions {
 public:
  LearnedPositions(const Scope& scope, const PositionShape& shape, Index offset, bool scaled)
      : context_(*shape.context),
        offset_(offset),
        scale_(scaled ? static_cast<Real>(std::sqrt(static_cast<double>(shape.width))) : Real(1)),
        table_(scope.parameter("weight", {offset + context_, shape.width}, Initializer::normal(shape.stddev),
                               Decay::yes)) {}

  std::optional<Index> limit() const override { return context_; }
  bool is_absolute() const override { return true; }

  Variable embed(const Variable& tokens, const std::vector<Index>& starts) const override {
    const Variable x = scale_ == 1 ? tokens : ops::scale(tokens, scale_);
    const Index batch = x.shape()[0], time = x.shape()[1];
    if (starts.empty()) {
      return ops::add_to_each(
          x, view(table_, [time, row = offset_](const Tensor& t) { return t.narrowed(0, row, time).as(DType::real); }));
    }
    TokenIds rows(Shape{batch, time});
    for (Index b = 0; b < batch; ++b) {
      for (Index t = 0; t < time; ++t) {
        const Index position = std::min(starts[static_cast<std::size_t>(b)] + t, context_ - 1);
        rows.ids[static_cast<std::size_t>(b * time + t)] = static_cast<TokenId>(offset_ + position);
      }
    }
    return ops::add(x, ops::embed(rows, table_));
  }

 private:
  Index context_, offset_;
  Real scale_;
  Variable table_;
};

}  // namespace

std::shared_ptr<const Positions> make_LearnedPositions(Settings& settings, const Scope& scope,
                                                       const PositionShape& shape) {
  check<UsageError>(shape.context.has_value(), "learned positions need `context`, the number of positions");
  const Index offset = settings.index({"offset", "the table's row of the first position"}, 0, 0, 1000);
  const bool scaled = settings.flag({"scaled", "1 for token embeddings times sqrt(width)"}, false);
  return std::make_shared<LearnedPositions>(scope, shape, offset, scaled);
}

}  // namespace heddle
