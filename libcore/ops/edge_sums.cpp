#include "libcore/ops/edge_sums.hpp"

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

namespace {

// Rows of nodes; null: none.
struct NodeMatrix {
  const Real* data = nullptr;
  Index stride = 0;

  explicit NodeMatrix(const Tensor& x) {
    if (x.empty()) return;
    data = x.data();
    stride = x.stride(0);
  }
};

HEDDLE_INLINE void add_row(const Real* x, Index columns, Real* y) {
  HEDDLE_SIMD
  for (Index c = 0; c < columns; ++c) y[c] += x[c];
}

HEDDLE_INLINE void copy_row(const Real* x, Index columns, Real* y) {
  HEDDLE_SIMD
  for (Index c = 0; c < columns; ++c) y[c] = x[c];
}

HEDDLE_INLINE void sum_rows(const Real* x, const Real* y, Index columns, Real* sum) {
  HEDDLE_SIMD
  for (Index c = 0; c < columns; ++c) sum[c] = x[c] + y[c];
}

HEDDLE_KERNEL void sums_of(const Index* rows, const Index* sources, const NodeMatrix& target, const NodeMatrix& source,
                           const Real* edge, Index columns, Real* y, Index begin, Index end) {
  for (Index node = begin; node < end; ++node) {
    const Real* const left = target.data == nullptr ? nullptr : target.data + node * target.stride;
    for (Index e = rows[node]; e < rows[node + 1]; ++e) {
      Real* const row = y + e * columns;
      const Real* const right = source.data == nullptr ? nullptr : source.data + sources[e] * source.stride;
      if (left != nullptr && right != nullptr) {
        sum_rows(left, right, columns, row);
        if (edge != nullptr) add_row(edge + e * columns, columns, row);
        continue;
      }
      const Real* const node_row = left != nullptr ? left : right;
      if (edge == nullptr) {
        copy_row(node_row, columns, row);
      } else if (node_row == nullptr) {
        copy_row(edge + e * columns, columns, row);
      } else {
        sum_rows(node_row, edge + e * columns, columns, row);
      }
    }
  }
}

HEDDLE_KERNEL void sums_at(const EdgesOfNodes& of, const Real* dy, Index columns, Real* to, Index stride, Index begin,
                           Index end) {
  for (Index node = begin; node < end; ++node) {
    for (Index place = of.first[node]; place < of.first[node + 1]; ++place) {
      add_row(dy + of.edge(place) * columns, columns, to + node * stride);
    }
  }
}

// The number of columns of all terms.
Index checked_columns(const EdgeTerms& terms, const EdgeRows& edges) {
  Index columns = -1;
  for (const Variable* x : {&terms.target, &terms.source, &terms.edge}) {
    if (x->empty()) continue;
    if (columns < 0) columns = x->shape()[-1];
    const Index rows = x == &terms.edge ? edges.edges() : edges.nodes();
    check<ShapeError>(x->shape() == Shape{rows, columns} && (x->value().stride(1) == 1 || columns == 1) &&
                          (x != &terms.edge || x->value().is_contiguous()),
                      "edge_sums: a term of shape ", x->shape(), " for ", edges.nodes(), " nodes, ", edges.edges(),
                      " edges and ", columns, " columns");
  }
  check<ShapeError>(columns >= 0, "edge_sums without terms");
  return columns;
}

void add_at_nodes(Gradient& gradient, const EdgeRows& edges, const EdgesOfNodes& of, const Tensor& dy) {
  add_as_reals(gradient, [&](const Tensor& to) {
    const Index columns = dy.shape()[1];
    for_nodes(edges, columns,
              [&](Index begin, Index end) { sums_at(of, dy.data(), columns, to.data(), to.stride(0), begin, end); });
  });
}

}  // namespace

Variable edge_sums(const EdgeTerms& terms, const std::shared_ptr<const EdgeRows>& edges) {
  const Section section("edge sums");
  const Index columns = checked_columns(terms, *edges);
  const Tensor target = as_reals(terms.target.value()), source = as_reals(terms.source.value()),
               edge = as_reals(terms.edge.value());
  const Tensor y({edges->edges(), columns});
  for_nodes(*edges, columns, [&](Index begin, Index end) {
    sums_of(edges->rows.data(), edges->sources.data(), NodeMatrix(target), NodeMatrix(source),
            edge.empty() ? nullptr : edge.data(), columns, y.data(), begin, end);
  });
  return record(y, {terms.target, terms.source, terms.edge},
                [edges, dtarget = terms.target.gradient(), dsource = terms.source.gradient(),
                 dedge = terms.edge.gradient()](const Tensor& gradient) {
                  const Tensor dy = gradient.as(DType::real);
                  if (dtarget) add_at_nodes(*dtarget, *edges, EdgesOfNodes::into(*edges), dy);
                  if (dsource) add_at_nodes(*dsource, *edges, EdgesOfNodes::from(*edges), dy);
                  if (dedge) dedge->contribute(dy);
                });
}

}  // namespace heddle::ops
