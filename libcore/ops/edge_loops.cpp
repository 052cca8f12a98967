#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

namespace {

// Widths of heads that are known when this is compiled keep their sums in registers.
template <Index width>
HEDDLE_INLINE void sum_edges(const EdgesOfNodes& of, const Real* weights, Index heads, const NodeHeads& from,
                             Real scale, Index node, Index head, Real* to) {
  Real sums[width] = {};
  for (Index place = of.first[node]; place < of.first[node + 1]; ++place) {
    const Index edge = of.edge(place);
    const Real weight = weights[edge * heads + head];
    const Real* const x = from.at(of.row(edge), head);
    HEDDLE_SIMD
    for (Index c = 0; c < width; ++c) sums[c] += weight * x[c];
  }
  HEDDLE_SIMD
  for (Index c = 0; c < width; ++c) to[c] += scale * sums[c];
}

HEDDLE_INLINE void sum_edges(const EdgesOfNodes& of, const Real* weights, Index heads, const NodeHeads& from,
                             Real scale, Index node, Index head, Real* to) {
  for (Index place = of.first[node]; place < of.first[node + 1]; ++place) {
    const Index edge = of.edge(place);
    const Real weight = scale * weights[edge * heads + head];
    const Real* const x = from.at(of.row(edge), head);
    HEDDLE_SIMD
    for (Index c = 0; c < from.width; ++c) to[c] += weight * x[c];
  }
}

HEDDLE_KERNEL void weighted_sums(const EdgesOfNodes& of, const Real* weights, const NodeHeads& from, Real scale,
                                 const NodeHeads& to, Index begin, Index end) {
  const Index heads = from.heads;
  for (Index node = begin; node < end; ++node) {
    for (Index head = 0; head < heads; ++head) {
      Real* const sums = to.at(node, head);
      switch (from.width) {
        case 8:
          sum_edges<8>(of, weights, heads, from, scale, node, head, sums);
          break;
        case 16:
          sum_edges<16>(of, weights, heads, from, scale, node, head, sums);
          break;
        case 32:
          sum_edges<32>(of, weights, heads, from, scale, node, head, sums);
          break;
        default:
          sum_edges(of, weights, heads, from, scale, node, head, sums);
      }
    }
  }
}

template <Index fixed>
HEDDLE_INLINE Real dot_of(const Real* x, const Real* y, Index given) {
  const Index width = fixed > 0 ? fixed : given;
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index c = 0; c < width; ++c) sum += x[c] * y[c];
  return sum;
}

// Dot products along the edges into one node.
template <Index fixed>
HEDDLE_INLINE void dots_of_node(const EdgesOfNodes& of, Index first, Index last, const NodeHeads& target,
                                const NodeHeads& source, Index node, Real scale, bool add, Real* products) {
  const Index heads = target.heads;
  for (Index edge = first; edge < last; ++edge) {
    for (Index head = 0; head < heads; ++head) {
      const Real dot = scale * dot_of<fixed>(target.at(node, head), source.at(of.row(edge), head), target.width);
      Real& product = products[edge * heads + head];
      product = add ? product + dot : dot;
    }
  }
}

HEDDLE_KERNEL void dots(const EdgesOfNodes& of, const NodeHeads& target, const NodeHeads& source, Real scale, bool add,
                        Real* products, Index begin, Index end) {
  for (Index node = begin; node < end; ++node) {
    const Index first = of.first[node], last = of.first[node + 1];
    switch (target.width) {
      case 8:
        dots_of_node<8>(of, first, last, target, source, node, scale, add, products);
        break;
      case 16:
        dots_of_node<16>(of, first, last, target, source, node, scale, add, products);
        break;
      case 32:
        dots_of_node<32>(of, first, last, target, source, node, scale, add, products);
        break;
      default:
        dots_of_node<0>(of, first, last, target, source, node, scale, add, products);
    }
  }
}

HEDDLE_KERNEL void weighted_targets(const Index* rows, const Real* weights, const NodeHeads& target,
                                    const NodeHeads& edge, Index begin, Index end) {
  for (Index node = begin; node < end; ++node) {
    for (Index e = rows[node]; e < rows[node + 1]; ++e) {
      for (Index head = 0; head < target.heads; ++head) {
        const Real weight = weights[e * target.heads + head];
        const Real* const from = target.at(node, head);
        Real* const to = edge.at(e, head);
        HEDDLE_SIMD
        for (Index c = 0; c < target.width; ++c) to[c] += weight * from[c];
      }
    }
  }
}

}  // namespace

void add_weighted_sums(const EdgeRows& edges, const EdgesOfNodes& of, const Tensor& weights, const Tensor& from,
                       Real scale, const Tensor& to) {
  const NodeHeads source(from), target(to);
  for_nodes(edges, source.heads * source.width,
            [&](Index begin, Index end) { weighted_sums(of, weights.data(), source, scale, target, begin, end); });
}

void edge_dots(const EdgeRows& edges, const EdgesOfNodes& of, const Tensor& target, const Tensor& from, Real scale,
               bool add, const Tensor& products) {
  const NodeHeads left(target), right(from);
  for_nodes(edges, left.heads * left.width,
            [&](Index begin, Index end) { dots(of, left, right, scale, add, products.data(), begin, end); });
}

void add_weighted_targets(const EdgeRows& edges, const Tensor& weights, const Tensor& from, const Tensor& to) {
  const NodeHeads target(from), edge(to);
  for_nodes(edges, target.heads * target.width, [&](Index begin, Index end) {
    weighted_targets(edges.rows.data(), weights.data(), target, edge, begin, end);
  });
}

void check_edge_rows(const Tensor& x, const EdgeRows& edges, const char* operation) {
  check<ShapeError>(x.rank() == 2 && x.shape()[0] == edges.edges() && x.is_contiguous(), operation,
                    ": a tensor of shape ", x.shape(), " for ", edges.edges(), " edges");
}

void check_node_heads(const Tensor& x, const EdgeRows& edges, const char* operation) {
  check<ShapeError>(x.rank() == 3 && x.shape()[0] == edges.nodes() && (x.stride(2) == 1 || x.shape()[2] == 1),
                    operation, ": a tensor of shape ", x.shape(), " for ", edges.nodes(), " nodes");
}

}  // namespace heddle::ops
