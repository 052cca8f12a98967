// Additive attention: w_ij = softmax_j(v_h . f(q_i + k_j)) with a vector v_h for each head h and f = tanh or leaky
// ReLU; or, in the other order, w_ij = softmax_j(f(a_h . q_i + b_h . k_j)), where the best key is the same for every
// query. What an edge says stands inside f in both. The weights exist as a tensor, so memory is quadratic in time, or
// linear in the number of edges. Source: Bahdanau et al. 2015, A.1.2, whose W_a and U_a are the projections of queries
// and keys here; of graphs Brody et al. 2022, "How attentive are graph attention networks?", equation 7, and in the
// other order Velickovic et al. 2018, "Graph attention networks", equation 3. Settings: activation; order. Parameters:
// weight [heads, key_width]; in the other order query_vector [heads, key_width] and key_vector [kv_heads, key_width].
// All are normal with standard deviation 1 / sqrt(key_width).
#include <cmath>
#include <utility>

#include "libcore/attention/edge_call.hpp"
#include "libcore/attention/key_value_cache.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/additive_scores.hpp"
#include "libcore/ops/edge_sums.hpp"
#include "libcore/ops/head_dots.hpp"
#include "libcore/ops/head_product.hpp"
#include "libcore/ops/mixing.hpp"

namespace heddle {

namespace {

AttentionSupport additive_support() {
  return {.causal = true,
          .cross = true,
          .cached = true,
          .window = true,
          .pairs = true,
          .grouped = true,
          .bias = true,
          .weights = true,
          .edges = true};
}

// In either order: weights of scores, pair by pair or edge by edge.
class AdditiveAttention : public CachedAttention {
 public:
  AttentionSupport support() const override { return additive_support(); }

  Variable mix(const AttentionCall& call) const override {
    if (call.edges) return mix_along_edges(call, edge_weights(call, edge_scores(call)));
    return ops::mix_values(weights_of(call), call.value,
                           {.key_rows = call.key_rows, .output = call.query.value().dtype()});
  }

  PairWeights weights(const AttentionCall& call) const override {
    return {(call.edges ? edge_weights(call, edge_scores(call)) : weights_of(call)).value()};
  }

 protected:
  AdditiveAttention(const HeadShape& shape, Activation activation) : CachedAttention(shape), activation_(activation) {}
  ops::AdditiveScores options_of(const AttentionCall& call) const {
    return {.mask = call.mask, .key_rows = call.key_rows, .activation = activation_};
  }
  Activation activation() const { return activation_; }

 private:
  virtual Variable scores(const AttentionCall& call) const = 0;
  virtual Variable edge_scores(const AttentionCall& call) const = 0;
  Variable weights_of(const AttentionCall& call) const {
    return ops::masked_softmax(scores(call), call.mask, call.offsets.bias);
  }

  Activation activation_;
};

Variable along(const AttentionCall& call, const Variable& target, const Variable& source) {
  return ops::edge_sums({.target = target, .source = source, .edge = call.edge_terms}, call.edges);
}

class InsideAttention : public AdditiveAttention {
 public:
  InsideAttention(const HeadShape& shape, Activation activation, Variable v)
      : AdditiveAttention(shape, activation), v_(std::move(v)) {}

  Index edge_term_width() const override { return shape().key_width; }

 private:
  Variable scores(const AttentionCall& call) const override {
    return ops::additive_scores(call.query, call.key, v_, options_of(call));
  }
  Variable edge_scores(const AttentionCall& call) const override {
    const Variable sums = along(call, rows_of_nodes(call.query), rows_of_nodes(call.key));
    const Index heads = shape().heads;
    const Variable inner =
        view(ops::activate(sums, activation()), [heads](const Tensor& t) { return t.split(1, heads); });
    return ops::head_dots(inner, v_);
  }

  Variable v_;
};

class OutsideAttention : public AdditiveAttention {
 public:
  OutsideAttention(const HeadShape& shape, Activation activation, Variable a, Variable b)
      : AdditiveAttention(shape, activation), a_(std::move(a)), b_(std::move(b)) {}

 private:
  // Scores of vectors of width 1.
  Variable scores(const AttentionCall& call) const override {
    const auto product = [](const Variable& x, const Variable& vectors) {
      const auto columns = [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[1], 1}); };
      return ops::head_product(x, view(vectors, columns), DType::real);
    };
    return ops::additive_scores(product(call.query, a_), product(call.key, b_), Variable(Tensor({shape().heads, 1}, 1)),
                                options_of(call));
  }
  Variable edge_scores(const AttentionCall& call) const override {
    const Variable sums =
        along(call, ops::head_dots(heads_of_nodes(call.query), a_), ops::head_dots(heads_of_nodes(call.key), b_));
    return ops::activate(sums, activation());
  }

  Variable a_, b_;
};

}  // namespace

std::unique_ptr<Attention> make_AdditiveAttention(Settings& settings, const AttentionScopes& scopes, HeadShape shape) {
  const Initializer initializer = Initializer::normal(1 / std::sqrt(static_cast<double>(shape.key_width)));
  const Activation activation = from_text<Activation>(settings.word(
      {"activation", "f: tanh, or leaky-relu as in graph attention networks"}, "tanh", {"tanh", "leaky-relu"}));
  const std::string order = settings.word(
      {"order", "inside: v f(q + k), or outside: f(a q + b k), whose best key is the same for every query"}, "inside",
      {"inside", "outside"});
  const auto vectors = [&](const char* name, Index heads) {
    return scopes.layer.parameter(name, {heads, shape.key_width}, initializer, Decay::yes);
  };
  if (order == "inside") return std::make_unique<InsideAttention>(shape, activation, vectors("weight", shape.heads));
  const Variable a = vectors("query_vector", shape.heads);
  return std::make_unique<OutsideAttention>(shape, activation, a, vectors("key_vector", shape.kv_heads));
}

}  // namespace heddle
