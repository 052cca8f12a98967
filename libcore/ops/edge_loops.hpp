// Loops along the edges of graphs, for the operations that follow them: tasks own nodes, as targets in the forward pass
// and as sources in the backward pass, so that no two write the same element.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

// Vectors of nodes, cut into heads [nodes, heads, width]: a view whose heads may lie anywhere.
struct NodeHeads {
  Real* data;
  Index node_stride, head_stride, heads, width;

  // Precondition: x holds Reals, with the elements of a head together.
  explicit NodeHeads(const Tensor& x)
      : data(x.data()), node_stride(x.stride(0)), head_stride(x.stride(1)), heads(x.shape()[1]), width(x.shape()[2]) {}
  HEDDLE_INLINE Real* at(Index node, Index head) const { return data + node * node_stride + head * head_stride; }
};

// The edges of each node, and the row that each brings: that of the node at its other end, of those into a node or from
// it, or a row of its own.
struct EdgesOfNodes {
  const Index *first, *order;  // order: numbers of the edges; null: they are numbered as they come
  const Index* other;          // row by the edge's number; null: the edge's own

  static EdgesOfNodes into(const EdgeRows& edges) { return {edges.rows.data(), nullptr, edges.sources.data()}; }
  static EdgesOfNodes from(const EdgeRows& edges) {
    return {edges.source_rows.data(), edges.by_source.data(), edges.targets.data()};
  }
  static EdgesOfNodes themselves(const EdgeRows& edges) { return {edges.rows.data(), nullptr, nullptr}; }
  HEDDLE_INLINE Index row(Index edge) const { return other == nullptr ? edge : other[edge]; }
  HEDDLE_INLINE Index edge(Index place) const { return order == nullptr ? place : order[place]; }
};

// Nodes of a task: so many that they have some thousand numbers of edges, on average.
inline Index nodes_per_task(Index nodes, Index edges, Index numbers_of_an_edge) {
  constexpr Index numbers_per_task = 32768;
  const Index of_a_node = (edges + nodes) / std::max<Index>(1, nodes) * std::max<Index>(1, numbers_of_an_edge);
  return std::max<Index>(1, numbers_per_task / std::max<Index>(1, of_a_node));
}

// Calls body(begin, end) on all threads for ranges of nodes.
template <class Body>
void for_nodes(const EdgeRows& edges, Index numbers_of_an_edge, const Body& body) {
  parallel_ranges(edges.nodes(), nodes_per_task(edges.nodes(), edges.edges(), numbers_of_an_edge), body);
}

// to_nh += scale * sum over the edges of node n of weights_eh from_(row of e)h: the mixing of values forward, and the
// gradients of products and of values.
void add_weighted_sums(const EdgeRows& edges, const EdgesOfNodes& of, const Tensor& weights, const Tensor& from,
                       Real scale, const Tensor& to);

// products_eh = scale * target_(target of e)h . from_(row of e)h, set or added; of edges into nodes.
void edge_dots(const EdgeRows& edges, const EdgesOfNodes& of, const Tensor& target, const Tensor& from, Real scale,
               bool add, const Tensor& products);

// to_eh += weights_eh from_(target of e)h
void add_weighted_targets(const EdgeRows& edges, const Tensor& weights, const Tensor& from, const Tensor& to);

// Itself, if it holds Reals, whatever its strides; else a copy that does.
inline Tensor as_reals(const Tensor& x) {
  return x.dtype() == DType::real ? x : x.as(DType::real);
}

// Lets add(tensor) accumulate a gradient in Reals, whatever its dtype.
template <class Add>
void add_as_reals(Gradient& gradient, const Add& add) {
  const Tensor to = gradient.adding_target();
  if (to.dtype() == DType::real) return add(to);
  const Tensor sums(to.shape(), Real(0));
  add(sums);
  to.add(sums);
}

// Throws ShapeError unless x is [edges, columns], contiguous.
void check_edge_rows(const Tensor& x, const EdgeRows& edges, const char* operation);
// Throws ShapeError unless x is [nodes, heads, width] with the elements of a head together.
void check_node_heads(const Tensor& x, const EdgeRows& edges, const char* operation);

}  // namespace heddle::ops
