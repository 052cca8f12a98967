// A transformer as the papers' equations read, in plain loops over the parameters of a model by name: for comparison.
// Source: Vaswani et al. 2017 (attention, post-norm); Devlin et al. 2019 and Liu et al. 2019 (embeddings, the head of
// masked tokens); Radford et al. 2019 (pre-norm, the last norm); Dai et al. 2019 (earlier states). Every attention
// variant and scheme of positions. SPEC 1, 2, 3.1, 3.3, 3.4, 4.2, 4.3.
#pragma once

#include <cmath>
#include <map>
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
    const std::string own = stack_ + "/embedding/token/weight";
    Matrix tokens;
    for (const TokenId id : ids) tokens.push_back(row_of(has(own) ? own : "embedding/token/weight", id));
    return embed_vectors(tokens, segments, first_position);
  }
  Matrix embed_vectors(const Matrix& vectors, const std::vector<TokenId>& segments, Index first_position = 0) const {
    Matrix x;
    for (std::size_t t = 0; t < vectors.size(); ++t) {
      Vector row = vectors[t];
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

  // Context of the states x of some positions in a block.
  struct Around {
    Matrix seen;                      // the states of the positions that they attend to, perhaps their own
    NaiveSelfAttention::Text text{};  // the model's window is added
    Matrix source{};                  // the last states of another text; empty: the block has no cross-attention
  };

  // Output of a block for x, in the order of the configuration:
  //   pre       h = x + Attention(LN x), h = h + Cross(LN h), then h + FFN(LN h)
  //   post      h = LN(x + Attention(x)), h = LN(h + Cross(h)), then LN(h + FFN(h))
  //   parallel  x + Attention(LN x) + Cross(LN x) + FFN(LN x)
  Matrix block(const Matrix& x, Index number, const Around& around) const {
    const std::string at = stack_ + "/" + std::to_string(number);
    const bool post = config_.block == "post", parallel = config_.block == "parallel";
    const auto read = [&](const Matrix& states, const char* name) { return post ? states : each(states, at + name); };
    const Matrix n = read(x, "/attention_norm");
    Matrix h = x;
    const auto add = [&](const Matrix& written, const char* name) {
      h = sum(h, written);
      if (post) h = each(h, at + name);
    };
    NaiveSelfAttention::Text text = around.text;
    text.mask.window = config_.window;
    add(attention(at + "/attention", text.mask.causal)(n, read(around.seen, "/attention_norm"), text),
        "/attention_norm");
    if (!around.source.empty()) {
      NaiveSelfAttention crossing = attention(at + "/cross_attention", false);
      crossing.positions = "none";
      add(crossing(parallel ? n : read(h, "/cross_attention_norm"), around.source, {}), "/cross_attention_norm");
    }
    add(feed(parallel ? n : read(h, "/feed_forward_norm"), at + "/feed_forward"), "/feed_forward_norm");
    return h;
  }
  // The last states, with the norm that the order wants after them.
  Matrix finish(const Matrix& x) const { return config_.block == "post" ? x : each(x, stack_ + "/norm"); }

  struct Reading {
    bool causal = false;
    std::vector<TokenId> segments{};
    Index first_position = 0;
    Matrix source{};
  };
  // The last states of a text.
  Matrix states(const std::vector<TokenId>& ids, const Reading& reading) const {
    std::vector<Matrix> kept;
    return states(ids, reading, kept, 0);
  }
  // States of a text that continues another: the last `most` inputs of each layer are kept, and visible.
  Matrix states(const std::vector<TokenId>& ids, const Reading& reading, std::vector<Matrix>& kept,
                std::size_t most) const {
    Matrix x = embed(ids, reading.segments, reading.first_position);
    const Matrix embeddings = x;
    kept.resize(static_cast<std::size_t>(config_.layers));
    for (Index layer = 0; layer < config_.layers; ++layer) {
      x = mixed(x, embeddings, layer);
      Matrix& earlier = kept[static_cast<std::size_t>(layer)];
      const Mask mask{.causal = reading.causal, .query_offsets = {static_cast<Index>(earlier.size())}};
      earlier.insert(earlier.end(), x.begin(), x.end());
      x = block(
          x, layer % config_.block_count(),
          {.seen = earlier, .text = {.mask = mask, .values = added_values(ids, layer)}, .source = reading.source});
      if (earlier.size() > most) earlier.erase(earlier.begin(), earlier.end() - static_cast<std::ptrdiff_t>(most));
    }
    return finish(x);
  }

  // Attention weights in a whole text: [layers][heads], [query][key] each.
  std::vector<std::vector<Matrix>> attention_weights(const std::vector<TokenId>& ids, const Reading& reading) const {
    Matrix x = embed(ids, reading.segments, reading.first_position);
    const Matrix embeddings = x;
    std::vector<std::vector<Matrix>> all;
    for (Index layer = 0; layer < config_.layers; ++layer) {
      x = mixed(x, embeddings, layer);
      const Index number = layer % config_.block_count();
      const std::string at = stack_ + "/" + std::to_string(number);
      const Matrix n = config_.block == "post" ? x : each(x, at + "/attention_norm");
      const Mask mask{.causal = reading.causal, .window = config_.window};
      all.push_back(attention(at + "/attention", reading.causal).weights(n, n, {.mask = mask}));
      x = block(x, number,
                {.seen = x,
                 .text = {.mask = {.causal = reading.causal}, .values = added_values(ids, layer)},
                 .source = reading.source});
    }
    return all;
  }

  // s e of each token, of the layers that have a table.
  Matrix added_values(const std::vector<TokenId>& ids, Index layer) const {
    Index tables = 0;
    while (has(table_of_values(tables))) ++tables;
    const Index last = layer - (config_.layers - tables);
    if (tables == 0 || (layer >= tables && last < 0)) return {};
    Matrix values;
    for (const TokenId id : ids) {
      values.push_back(row_of(table_of_values(layer < tables ? layer : last), id));
      for (double& value : values.back()) value *= tensor(stack_ + "/value_scale/" + std::to_string(layer))[0];
    }
    return values;
  }

  // Input of a layer: a x + b e.
  Matrix mixed(Matrix x, const Matrix& embeddings, Index layer) const {
    const std::string mix = stack_ + "/mix/" + std::to_string(layer);
    for (std::size_t t = 0; config_.input_mix && layer > 0 && t < x.size(); ++t) {
      for (std::size_t i = 0; i < x[t].size(); ++i) {
        x[t][i] = tensor(mix + "/states")[0] * x[t][i] + tensor(mix + "/embeddings")[0] * embeddings[t][i];
      }
    }
    return x;
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
  Vector token_logits(const Vector& x) const {
    return product(config_.tie_embeddings ? stack_ + "/embedding/token/weight" : "head/weight", x);
  }
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
    const Vector y = product(name + "/weight", x);
    return has(name + "/bias") ? sum(y, vector_of(name + "/bias")) : y;
  }
  std::string table_of_values(Index number) const {
    return stack_ + "/embedding/value/" + std::to_string(number) + "/weight";
  }
  bool has(const std::string& name) const { return model_.parameters().find(name) != nullptr; }
  // (x - mean) / sqrt(variance + eps) times the gain, plus the bias if there is one; or x / sqrt(mean x^2 + eps) times
  // the gain.
  Vector norm(const Vector& x, const std::string& name) const {
    if (config_.norm == "rms") return rms_norm(x, vector_of(name + "/gain"));
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x) variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    const Vector gain = vector_of(name + "/gain"), bias = has(name + "/bias") ? vector_of(name + "/bias") : Vector();
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(gain[i] * (x[i] - mean) / std::sqrt(variance + config_.norm_epsilon) + (bias.empty() ? 0 : bias[i]));
    }
    return y;
  }
  Vector rms_norm(Vector x, const Vector& gain) const {
    double squares = 0;
    for (const double value : x) squares += value * value / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= gain[i] / std::sqrt(squares + config_.norm_epsilon);
    return x;
  }
  double activation(double x) const {
    static const std::map<std::string, double (*)(double)> all{
        {"relu", [](double v) { return std::max(v, 0.0); }},
        {"gelu", [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }},
        {"gelu-tanh",
         [](double v) {
           return 0.5 * v * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (v + 0.044715 * v * v * v)));
         }},
        {"silu", [](double v) { return v / (1 + std::exp(-v)); }},
        {"tanh", [](double v) { return std::tanh(v); }},
        {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
        {"leaky-relu", [](double v) { return std::max(v, v / 5); }},
        {"elu", [](double v) { return v < 0 ? std::exp(v) - 1 : v; }},
        {"relu-squared", [](double v) { return v > 0 ? v * v : 0.0; }},
        {"identity", [](double v) { return v; }}};
    return all.at(config_.activation)(x);
  }
  Matrix feed(const Matrix& x, const std::string& name) const {
    Matrix y;
    for (const Vector& row : x) {
      Vector inner = linear(row, name + (config_.gated ? "/gate" : "/up"));
      for (double& value : inner) value = activation(value);
      if (config_.gated) {
        const Vector up = linear(row, name + "/up");
        for (std::size_t i = 0; i < inner.size(); ++i) inner[i] *= up[i];
      }
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
            .causal = causal,
            .norm_epsilon = config_.norm_epsilon};
  }
  const models::Model& model_;
  std::string stack_;
  models::TransformerConfig config_;
};

}  // namespace heddle::testing
