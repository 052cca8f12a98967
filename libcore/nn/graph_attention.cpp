#include "libcore/nn/graph_attention.hpp"

#include <utility>
#include <vector>

#include "libcore/nn/parts.hpp"
#include "libcore/ops/reduce_rows.hpp"

namespace heddle::nn {

namespace {

std::vector<std::string> matrices_of(GraphProjections projections) {
  if (projections == GraphProjections::one) return {"value"};
  if (projections == GraphProjections::two) return {"query", "value"};
  return {"query", "key", "value"};
}

std::unique_ptr<const Attention> variant_of(const Scope& scope, const Scope& stack, const GraphAttentionOptions& o) {
  auto variant = make_attention(o.variant, {scope, stack}, {o.heads, o.head_width});
  check_support(o.variant, variant->support(), {.edges = true});
  return variant;
}

// The mean of the heads of x [1, nodes, heads, width]: [nodes, width].
Variable mean_of_heads(const Variable& x) {
  const Index nodes = x.shape()[1], heads = x.shape()[2], width = x.shape()[3];
  std::vector<Index> starts;
  for (Index i = 0; i <= nodes; ++i) starts.push_back(i * heads);
  const Variable rows = view(x, [=](const Tensor& t) { return t.reshaped({nodes * heads, width}); });
  return ops::reduce_parts(rows, std::move(starts), Reduction::mean);
}

}  // namespace

GraphAttention::GraphAttention(const Scope& scope, const Scope& stack, const GraphAttentionOptions& o)
    : options_(o),
      inputs_(scope, matrices_of(o.projections), o.width, o.heads * o.head_width, o.bias, o.stddev),
      attention_(variant_of(scope, stack, o)),
      weight_site_(random_site(scope.path() + "/weights")) {
  if (o.edge_width > 0) {
    edge_.emplace(scope / "edge", o.edge_width, o.heads * edge_term_width(), Bias::no, o.stddev);
    if (o.edge_values) {
      edge_value_.emplace(scope / "edge_value", o.edge_width, o.heads * o.head_width, Bias::no,
                          stddev_by_inputs(o.edge_width));
    }
  }
  if (!o.output) return;
  output_.emplace(scope / "output", o.average ? o.head_width : o.heads * o.head_width, o.width, o.bias,
                  o.output_stddev);
}

AttentionCall GraphAttention::call(const Variable& x, const GraphEdges& edges, const Pass& pass,
                                   const Variable& terms) const {
  const Part part(parts::projections);
  const Variable states = inputs_(x, pass);
  const Index heads = options_.heads, width = heads * options_.head_width;
  const auto heads_of = [&](Index matrix) {
    return view(states, [=](const Tensor& t) {
      return t.narrowed(1, matrix * width, width).split(1, heads).split(0, 1).swapped(1, 2);
    });
  };
  AttentionCall call{.query = heads_of(0),
                     .key = heads_of(inputs_.parts() == 3 ? 1 : inputs_.parts() - 1),
                     .value = heads_of(inputs_.parts() - 1),
                     .pass = pass,
                     .edges = edges.rows};
  if (!terms.empty()) {
    call.edge_terms = terms;
  } else if (edge_ && !edges.features.empty()) {
    call.edge_terms = (*edge_)(edges.features, {.output = DType::real}, pass);
  }
  if (edge_value_ && !edges.features.empty()) {
    call.edge_values = (*edge_value_)(edges.features, {.output = DType::real}, pass);
  }
  if (pass.training && options_.weight_dropout > 0) {
    const Variable ones(Tensor({edges.rows->edges(), heads}, Real(1)));
    call.edge_factors = drop_rows(ones, options_.weight_dropout, weight_site_, edges.edge_starts(), pass).value();
  }
  return call;
}

Variable GraphAttention::operator()(const Variable& x, const GraphEdges& edges, const Pass& pass,
                                    const Variable& terms) const {
  const AttentionCall given = call(x, edges, pass, terms);
  const auto mixed = [&] {
    const Part part(parts::mixing);
    return attention_->mix(given);
  }();
  const auto beside = [](const Tensor& t) { return t.reshaped({t.shape()[1], t.shape()[2] * t.shape()[3]}); };
  const Variable merged = options_.average ? mean_of_heads(mixed) : view(mixed, beside);
  const Part part(parts::projections);
  return output_ ? (*output_)(merged, {.output = DType::real}, pass) : merged;
}

Tensor GraphAttention::weights(const Variable& x, const GraphEdges& edges, const Variable& terms) const {
  return attention_->weights(call(x, edges, {}, terms)).weights;
}

}  // namespace heddle::nn
