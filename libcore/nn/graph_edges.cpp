#include "libcore/nn/graph_edges.hpp"

#include <utility>

#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/dropout.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::nn {

namespace {

constexpr Index most_rows = Index{1} << 24;  // rows of a sample that are numbered separately

}  // namespace

std::vector<Index> GraphEdges::edge_starts() const {
  std::vector<Index> result;
  for (const Index node : *starts) result.push_back(rows->rows[static_cast<std::size_t>(node)]);
  return result;
}

GraphEdges with_loops(const GraphEdges& edges) {
  GraphEdges result{.starts = edges.starts};
  std::vector<Index> origins;
  result.rows = std::make_shared<const EdgeRows>(heddle::with_loops(*edges.rows, &origins));
  if (edges.features.empty()) return result;
  const Index count = edges.features.shape()[0];
  for (Index& origin : origins) origin = origin >= 0 ? origin : count;
  const Variable nothing(Tensor({1, edges.features.shape()[1]}, Real(0)));
  result.features = ops::gather_rows(ops::concatenate({edges.features, nothing}, 0), origins);
  return result;
}

Variable drop_rows(const Variable& x, double rate, std::uint64_t site, const std::vector<Index>& starts,
                   const Pass& pass) {
  if (rate == 0 || x.value().size() == 0) return x;
  std::vector<Index> firsts;
  for (std::size_t g = 0; g + 1 < starts.size(); ++g) {
    const Index first = (pass.first_sample + static_cast<Index>(g)) * most_rows;
    for (Index row = starts[g]; row < starts[g + 1]; ++row) firsts.push_back((first + row - starts[g]) * x.shape()[-1]);
  }
  return ops::dropout(x, rate, RandomStream(pass.seed, site, pass.step), std::move(firsts));
}

}  // namespace heddle::nn
