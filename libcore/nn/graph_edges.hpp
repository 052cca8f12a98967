// The edges of graphs as layers see them.
#pragma once

#include <memory>
#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"
#include "libcore/ops/pass.hpp"

namespace heddle::nn {

// The edges of all graphs of a batch.
struct GraphEdges {
  std::shared_ptr<const EdgeRows> rows{};
  Variable features{};                                 // [edges, columns]; empty: they have none
  std::shared_ptr<const std::vector<Index>> starts{};  // nodes starts[g] to starts[g + 1] are those of graph g

  std::vector<Index> edge_starts() const;  // the same of edges
};

// The edges and a loop at every node that lacks one, of whose features all are 0.
GraphEdges with_loops(const GraphEdges& edges);

// Drops elements of x [rows, width], of which graph g has the rows starts[g] to starts[g + 1]. The random numbers
// depend on the graph's number in the step and on the place in the graph alone.
Variable drop_rows(const Variable& x, double rate, std::uint64_t site, const std::vector<Index>& starts,
                   const Pass& pass);

}  // namespace heddle::nn
