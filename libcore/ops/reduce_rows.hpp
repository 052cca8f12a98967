// One row for many: of messages at a node, or of the nodes of a graph.
#pragma once

#include <memory>
#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

enum class Reduction { sum, mean, max, min };
template <>
struct Names<Reduction> {
  static constexpr std::pair<Reduction, std::string_view> list[] = {
      {Reduction::sum, "sum"}, {Reduction::mean, "mean"}, {Reduction::max, "max"}, {Reduction::min, "min"}};
};

namespace ops {

// y_i = the sum, mean, largest or smallest of the messages of the edges into node i, column by column; 0 without edges.
// Shapes: messages [edges, columns], contiguous Reals -> [nodes, columns].  Backward: to each message, its share; of
// the largest or smallest, to the first of several alike.  Throws ShapeError.
Variable reduce_edges(const Variable& messages, const std::shared_ptr<const EdgeRows>& edges, Reduction reduction);

// The same of the rows starts[p] to starts[p + 1] for each part p.
// Shapes: x [rows, columns], contiguous Reals -> [parts, columns].  Throws ShapeError for parts that do not begin at 0,
// fall, or end elsewhere than at the last row.
Variable reduce_parts(const Variable& x, std::vector<Index> starts, Reduction reduction);

}  // namespace ops
}  // namespace heddle
