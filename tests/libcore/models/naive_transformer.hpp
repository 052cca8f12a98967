// A transformer as the papers' equations read, in plain loops over the parameters of a model by name: for comparison.
// Source: Vaswani et al. 2017 (attention, post-norm); Devlin et al. 2019 and Liu et al. 2019 (embeddings, the head of
// masked tokens); Radford et al. 2019 (pre-norm, the last norm); Dai et al. 2019 (earlier states). Every attention
// variant and scheme of positions. SPEC 1, 2, 3.1, 3.3, 3.4, 4.2, 4.3.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "libcore/attention/naive_self_attention.hpp"
#include "libcore/models/model.hpp"

namespace heddle::testing {

// One sequence without padding.
class NaiveTransformer {
 public:
  using Vector = std::vector<double>;
  using Matrix = std::vector<Vector>;  // [time][width]

  NaiveTransformer(const models::Model& model, std::string stack, const models::TransformerConfig& config)
      : model_(model), stack_(std::move(stack)), config_(config) {}

  // LN(token + position + segment), or without the norm; positions count from `first_position`.
  Matrix embed(const std::vector<TokenId>& ids, const std::vector<TokenId>& segments, Index first_position) const {
    Matrix x;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      Vector row = row_of(stack_ + "/embedding/token/weight", ids[t]);
      const Index position = first_position + static_cast<Index>(t);
      if (config_.positions == "sinusoidal") row = attention("", true).embed({row}, position)[0];
      if (config_.positions.starts_with("learned")) {
        row = sum(row, row_of(stack_ + "/embedding/position/weight", position));
      }
      if (!segments.empty()) row = sum(row, row_of(stack_ + "/embedding/segment/weight", segments[t]));
      x.push_back(config_.embedding_norm ? norm(row, stack_ + "/embedding/norm") : row);
    }
    return x;
  }

  // LN(x + Attention(x)), then LN(x + FFN(x)).
  Matrix post_norm_block(const Matrix& x, Index block) const {
    const std::string at = stack_ + "/" + std::to_string(block);
    const Matrix h = each(sum(x, attend(x, x, at + "/attention", {})), at + "/attention_norm");
    return each(sum(h, feed(h, at + "/feed_forward")), at + "/feed_forward_norm");
  }

  // x + Attention(LN x), then x + FFN(LN x); no token sees later ones, and all see `earlier` states.
  Matrix pre_norm_block(const Matrix& x, Index block, const Matrix& earlier = {}) const {
    const std::string at = stack_ + "/" + std::to_string(block);
    Matrix seen = earlier;
    seen.insert(seen.end(), x.begin(), x.end());
    const Mask mask{.causal = true, .query_offsets = {static_cast<Index>(earlier.size())}};
    const Matrix h =
        sum(x, attend(each(x, at + "/attention_norm"), each(seen, at + "/attention_norm"), at + "/attention", mask));
    return sum(h, feed(each(h, at + "/feed_forward_norm"), at + "/feed_forward"));
  }

  // The last states of a pre-norm decoder for tokens that continue a text, of
  // which the inputs of each layer are kept, `most` positions at most.
  Matrix continue_text(const std::vector<TokenId>& ids, std::vector<Matrix>& kept, std::size_t most) const {
    Matrix x = embed(ids, {}, 0);
    kept.resize(static_cast<std::size_t>(config_.layers));
    for (Index block = 0; block < config_.layers; ++block) {
      Matrix& earlier = kept[static_cast<std::size_t>(block)];
      const Matrix next = pre_norm_block(x, block, earlier);
      earlier.insert(earlier.end(), x.begin(), x.end());
      if (earlier.size() > most) earlier.erase(earlier.begin(), earlier.end() - static_cast<std::ptrdiff_t>(most));
      x = next;
    }
    return each(x, stack_ + "/norm");
  }

  Matrix each(Matrix x, const std::string& norm_name) const {
    for (Vector& row : x) row = norm(row, norm_name);
    return x;
  }

  // W LN(gelu(dense x)) + b with the token embeddings for W.
  Vector masked_token_logits(const Vector& x) const {
    Vector h = linear(x, "head/dense");
    for (double& value : h) value = activation(value);
    return sum(token_logits(norm(h, "head/norm")), vector_of("head/bias"));
  }
  Vector token_logits(const Vector& x) const { return product(stack_ + "/embedding/token/weight", x); }
  // tanh(W x + b)
  Vector pooled(const Vector& x) const {
    Vector y = linear(x, stack_ + "/pooler");
    for (double& value : y) value = std::tanh(value);
    return y;
  }

 private:
  const Tensor& tensor(const std::string& name) const { return model_.parameters().find(name)->value(); }
  Vector row_of(const std::string& name, Index row) const {
    const Tensor& table = tensor(name);
    Vector result;
    for (Index i = 0; i < table.shape()[1]; ++i) result.push_back(table[row * table.shape()[1] + i]);
    return result;
  }
  Vector vector_of(const std::string& name) const {
    Vector result;
    for (Index i = 0; i < tensor(name).size(); ++i) result.push_back(tensor(name)[i]);
    return result;
  }
  static Vector sum(Vector a, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static Matrix sum(Matrix a, const Matrix& b) {
    for (std::size_t t = 0; t < a.size(); ++t) a[t] = sum(a[t], b[t]);
    return a;
  }
  Vector product(const std::string& name, const Vector& x) const {
    Vector y;
    for (Index o = 0; o < tensor(name).shape()[0]; ++o) {
      const Vector row = row_of(name, o);
      y.push_back(0);
      for (std::size_t i = 0; i < x.size(); ++i) y.back() += row[i] * x[i];
    }
    return y;
  }
  Vector linear(const Vector& x, const std::string& name) const {
    return sum(product(name + "/weight", x), vector_of(name + "/bias"));
  }
  Vector norm(const Vector& x, const std::string& name) const {
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x) variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    const Vector gain = vector_of(name + "/gain"), bias = vector_of(name + "/bias");
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(gain[i] * (x[i] - mean) / std::sqrt(variance + config_.norm_epsilon) + bias[i]);
    }
    return y;
  }
  // x Phi(x), or GPT-2's form of it with tanh.
  double activation(double x) const {
    if (config_.activation == "gelu") return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
  }
  Matrix feed(const Matrix& x, const std::string& name) const {
    Matrix y;
    for (const Vector& row : x) {
      Vector inner = linear(row, name + "/up");
      for (double& value : inner) value = activation(value);
      y.push_back(linear(inner, name + "/down"));
    }
    return y;
  }
  NaiveSelfAttention attention(const std::string& layer, bool causal) const {
    return {.parameters = model_.parameters(),
            .layer = layer,
            .embedding = stack_ + "/embedding/position",
            .variant = config_.attention,
            .positions = config_.positions,
            .shape = config_.head_shape(),
            .causal = causal};
  }
  Matrix attend(const Matrix& x, const Matrix& seen, const std::string& name, Mask mask) const {
    mask.window = config_.window;
    return attention(name, mask.causal)(x, seen, {.mask = mask});
  }

  const models::Model& model_;
  std::string stack_;
  models::TransformerConfig config_;
};

}  // namespace heddle::testing
