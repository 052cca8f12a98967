#include "libcore/nn/message_passing.hpp"

#include "libcore/nn/parts.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/edge_sums.hpp"
#include "libcore/ops/mix_edges.hpp"

namespace heddle::nn {

namespace {

// The sum or mean over the edges into each node of the sources' states, without a row for each edge.
Variable reduced_sources(const Variable& x, const std::shared_ptr<const EdgeRows>& edges, Reduction reduction) {
  const Tensor weights({edges->edges(), 1}, Real(1));
  if (reduction == Reduction::mean) {
    for (Index e = 0; e < edges->edges(); ++e) {
      const auto target = static_cast<std::size_t>(edges->targets[static_cast<std::size_t>(e)]);
      weights[e] = Real(1) / static_cast<Real>(edges->rows[target + 1] - edges->rows[target]);
    }
  }
  return ops::mix_edges(Variable(weights), view(x, [](const Tensor& t) { return t.split(1, 1); }), edges);
}

}  // namespace

MessagePassing::MessagePassing(const Scope& scope, const MessagePassingOptions& o) : options_(o) {
  if (o.edge_width > 0) edge_.emplace(scope / "edge", o.edge_width, o.width, Bias::no, o.stddev);
  if (o.messages == Messages::both) {
    ends_.emplace(scope, std::vector<std::string>{"target", "source"}, o.width, o.width, o.bias, o.stddev);
  }
  if (o.update == NodeUpdate::linear) {
    own_.emplace(scope / "own", o.width, o.width, o.bias, o.stddev);
    heard_.emplace(scope / "heard", o.width, o.width, Bias::no, o.output_stddev);
    return;
  }
  epsilon_ = scope.parameter("epsilon", {1}, Initializer::zeros(), Decay::no);
  network_.emplace(scope / "feed_forward", FeedForwardOptions{.width = o.width,
                                                              .inner_width = o.inner_width,
                                                              .activation = o.activation,
                                                              .bias = o.bias,
                                                              .stddev = o.stddev,
                                                              .output_stddev = o.output_stddev});
}

Variable MessagePassing::messages(const Variable& x, const GraphEdges& edges, const Pass& pass) const {
  const bool has_terms = edge_ && !edges.features.empty();
  const bool is_sum = options_.reduction == Reduction::sum || options_.reduction == Reduction::mean;
  if (!ends_ && !has_terms && is_sum) return reduced_sources(x, edges.rows, options_.reduction);
  ops::EdgeTerms terms{.source = x};
  if (ends_) {
    const Variable both = (*ends_)(x, pass);
    const Index width = options_.width;
    terms.target = view(both, [width](const Tensor& t) { return t.narrowed(1, 0, width); });
    terms.source = view(both, [width](const Tensor& t) { return t.narrowed(1, width, width); });
  }
  if (has_terms) terms.edge = (*edge_)(edges.features, {.output = DType::real}, pass);
  const Variable sums = ops::edge_sums(terms, edges.rows);
  const Variable said = ends_ || has_terms ? ops::activate(sums, Activation::relu) : sums;
  return ops::reduce_edges(said, edges.rows, options_.reduction);
}

Variable MessagePassing::operator()(const Variable& x, const GraphEdges& edges, const Pass& pass) const {
  const auto heard = [&] {
    const Part part(parts::mixing);
    return messages(x, edges, pass);
  }();
  const Part part(parts::feed_forward);
  if (!network_) return (*heard_)(heard, {.residual = (*own_)(x, {.output = DType::real}, pass)}, pass);
  return (*network_)(ops::add(ops::add(x, ops::scale(x, epsilon_)), heard), {}, pass);
}

}  // namespace heddle::nn
