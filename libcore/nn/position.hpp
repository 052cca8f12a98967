// Where a token stands, as a vector added to its embedding.
#pragma once

#include <vector>

#include "heddle/autograd/parameters.hpp"
#include "heddle/base/visit.hpp"

namespace heddle {

enum class PositionKind { learned, sinusoidal, none };
template <>
struct Names<PositionKind> {
  static constexpr std::pair<PositionKind, std::string_view> list[] = {
      {PositionKind::learned, "learned"}, {PositionKind::sinusoidal, "sinusoidal"}, {PositionKind::none, "none"}};
};

namespace nn {

// p[t, 2k] = sin(w_k t), p[t, 2k + 1] = cos(w_k t), w_k = 10000^(-2k / width).  Source: Vaswani et al. 2017, 3.5.
// Shapes: -> [time, width].
Tensor sinusoidal_positions(Index time, Index width);

struct PositionOptions {
  PositionKind kind = PositionKind::learned;
  Index context, width;
  Index offset = 0;  // position 0 is the table's row `offset`; learned positions only
};

// Learned positions have the parameter weight [offset + context, width] (SPEC 2.2); the others have none.
class Position {
 public:
  Position(const Scope& scope, const PositionOptions& options, double deviation);

  // x [batch, time, width] + the vectors of positions starts[b], starts[b] + 1, … (empty: from 0 in every row).
  // Throws DataError when every row would reach beyond the context; rows with starts may end in padding that does.
  Variable operator()(const Variable& x, const std::vector<Index>& starts = {}) const;

 private:
  Index context_, offset_;
  Variable table_;  // [offset + context, width]; empty for none
};

}  // namespace nn
}  // namespace heddle
