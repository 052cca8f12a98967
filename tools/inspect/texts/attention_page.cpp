#include "tools/inspect/texts/attention_page.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/analysis/attention_patterns.hpp"
#include "libcore/analysis/weight_levels.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/tensor/threads.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/inspect/page_parts.hpp"

namespace heddle {

namespace {

using formats::Json;

constexpr double most_weights = 256e6;       // weights of a page, a byte each
constexpr double automatic_vectors = 2.5e6;  // bytes

std::string weight_bytes(const Tensor& weights) {
  const auto count = static_cast<std::size_t>(weights.size());
  std::string bytes(count, '\0');
  analysis::weight_levels({weights.data(), count}, reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

// 1 for each weight that is not finite.
std::string not_finite_pairs(const Tensor& weights) {
  std::string bytes;
  std::transform(weights.data(), weights.data() + weights.size(), std::back_inserter(bytes),
                 [](Real weight) { return std::isfinite(weight) ? '\0' : '\1'; });
  return bytes;
}

// [1, heads or kv_heads, time, width] -> bytes [heads, time, width], and what 1 stands for. Numbers that are not finite
// are -128, a value that rounding does not give.
struct Vectors {
  std::string bytes;
  double step;
};
Vectors quantised(const Tensor& stored, Index heads) {
  const Tensor x = stored.as(DType::real);
  const Shape& shape = x.shape();
  const Index each = shape[2] * shape[3];
  double largest = 0;
  for (Index i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  }
  const double step = largest > 0 ? largest / 127 : 1;
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(heads * each));
  for (Index head = 0; head < heads; ++head) {
    const Real* const from = x.data() + head / (heads / shape[1]) * each;
    for (Index i = 0; i < each; ++i) {
      const auto value = static_cast<double>(from[i]);
      bytes += static_cast<char>(std::isfinite(value) ? std::lround(value / step) : -128);
    }
  }
  return {std::move(bytes), step};
}

bool are_all_finite(const Real* values, Index count) {
  return std::all_of(values, values + count, [](Real value) { return std::isfinite(value); });
}

// Whether the weights are the softmax of the products alone, over the keys up to a query's own if it is causal. Rows
// that are not finite say nothing about that.
bool are_softmax(const PairWeights& pairs, bool causal) {
  const Shape& shape = pairs.weights.shape();
  const Tensor query = pairs.query.as(DType::real), key = pairs.key.as(DType::real);
  const Index heads = shape[1], queries = shape[2], keys = shape[3], width = query.shape()[3];
  const Index group = heads / key.shape()[1];
  for (Index row = 0; row < heads * queries; ++row) {
    const Real* const q = query.data() + row * width;
    const Real* const k = key.data() + row / queries / group * keys * width;
    const Real* const weights = pairs.weights.data() + row * keys;
    if (!are_all_finite(weights, keys)) continue;
    const Index seen = causal ? row % queries + 1 : keys;
    std::vector<double> powers(static_cast<std::size_t>(seen));
    double sum = 0;
    for (Index j = 0; j < seen; ++j) {
      double score = 0;
      for (Index a = 0; a < width; ++a) score += static_cast<double>(q[a]) * static_cast<double>(k[j * width + a]);
      sum += powers[static_cast<std::size_t>(j)] = std::exp(static_cast<double>(pairs.scale) * score);
    }
    for (Index j = 0; j < seen; ++j) {
      const double weight = powers[static_cast<std::size_t>(j)] / sum;
      if (!(std::abs(weight - static_cast<double>(weights[j])) < 1e-3)) return false;
    }
  }
  return true;
}

Json vectors_of(const PairWeights& pairs, bool causal) {
  if (pairs.query.empty()) return {};
  const Index heads = pairs.weights.shape()[1];
  const Vectors query = quantised(pairs.query, heads), key = quantised(pairs.key, heads);
  return {{"width", pairs.query.shape()[3]},
          {"scale", pairs.scale},
          {"query", packed(query.bytes)},
          {"query_step", query.step},
          {"key", packed(key.bytes)},
          {"key_step", key.step},
          {"softmax", are_softmax(pairs, causal)}};
}

// A byte for each head and key: 255 stands for the largest of the layer. Null where the page has nothing of it.
Json value_lengths_of(const PairWeights& pairs) {
  if (!pairs.value_lengths) return {};
  const Tensor lengths = pairs.value_lengths();
  double largest = 0;
  for (Index i = 0; i < lengths.size(); ++i) largest = std::max(largest, static_cast<double>(lengths[i]));
  if (!(largest > 0) || !are_all_finite(lengths.data(), lengths.size())) return {};
  std::string bytes;
  for (Index i = 0; i < lengths.size(); ++i) {
    bytes += static_cast<char>(std::lround(255 * static_cast<double>(lengths[i]) / largest));
  }
  return packed(bytes);
}

double vector_bytes(const AttentionReport& report) {
  double bytes = 0;
  for (const AttentionGroup& group : report.groups) {
    for (const models::AttentionMap& map : group.layers) {
      if (map.pairs.query.empty()) continue;
      const Shape& weights = map.pairs.weights.shape();
      bytes += static_cast<double>(weights[1] * (weights[2] + weights[3]) * map.pairs.query.shape()[3]);
    }
  }
  return bytes;
}

double weight_count(const AttentionReport& report) {
  double count = 0;
  for (const AttentionGroup& group : report.groups) {
    for (const models::AttentionMap& map : group.layers) count += static_cast<double>(map.pairs.weights.size());
  }
  return count;
}

// Rollout of self-attention from the first layer on; null for other attention.
Json rollout_of(const AttentionGroup& group) {
  if (group.query != group.key || group.numbers.front() != 1) return {};
  analysis::AttentionRollout rollout;
  std::string bytes;
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    if (group.numbers[layer] != static_cast<Index>(layer) + 1) return {};
    const Tensor& weights = group.layers[layer].pairs.weights;
    const Shape& shape = weights.shape();
    bytes += weight_bytes(rollout.add(weights.reshaped({shape[1], shape[2], shape[3]})));
  }
  return packed(bytes);
}

Json json_of(const TokenText& text) {
  Json tokens = Json::array();
  for (std::size_t i = 0; i < text.ids.size(); ++i) {
    const TokenRole role =
        text.roles[i] == TokenRole::punctuation ? TokenRole::word : text.roles[i];  // seen by the page
    tokens.push_back({{"label", text.labels[i]},
                      {"piece", printable(text.pieces[i])},
                      {"id", text.ids[i]},
                      {"kind", static_cast<int>(role)}});
  }
  return {{"name", text.name}, {"tokens", std::move(tokens)}};
}

Json json_of(const AttentionGroup& group, bool has_vectors) {
  std::vector<Json> layers(group.layers.size());
  parallel_for(std::ssize(layers), [&](Index layer) {
    const auto i = static_cast<std::size_t>(layer);
    const models::AttentionMap& map = group.layers[i];
    const bool all_finite = std::ranges::find(group.not_finite, group.numbers[i]) == group.not_finite.end();
    layers[i] = {{"name", map.name},
                 {"number", group.numbers[i]},
                 {"heads", group.heads},
                 {"weights", packed(weight_bytes(map.pairs.weights))},
                 {"not_finite", all_finite ? Json() : Json(packed(not_finite_pairs(map.pairs.weights)))},
                 {"values", value_lengths_of(map.pairs)},
                 {"vectors", has_vectors ? vectors_of(map.pairs, group.causal) : Json()}};
  });
  return {{"name", group.title()},  {"query", group.query},        {"key", group.key},
          {"causal", group.causal}, {"layers", std::move(layers)}, {"rollout", rollout_of(group)}};
}

void add_side(Json& data, const AttentionReport& report, bool has_vectors) {
  data["texts"] = Json::array();
  for (const TokenText& text : report.texts) data["texts"].push_back(json_of(text));
  data["attention"] = Json::array();
  for (const AttentionGroup& group : report.groups) data["attention"].push_back(json_of(group, has_vectors));
}

bool have_one_shape(const AttentionReport& first, const AttentionReport& second) {
  return std::ranges::equal(first.groups, second.groups, [](const AttentionGroup& a, const AttentionGroup& b) {
    return a.name == b.name && a.numbers == b.numbers && a.heads == b.heads && a.query == b.query && a.key == b.key;
  });
}

}  // namespace

void check_beside(const AttentionSide& first, const AttentionSide& second, bool are_models) {
  const std::string both = first.name + " and " + second.name;
  check<UsageError>(!are_models || first.report.texts.front().pieces == second.report.texts.front().pieces, both,
                    ": their tokenizers cut the text differently, so nothing corresponds side by side");
  check<UsageError>(have_one_shape(first.report, second.report), both,
                    ": differ in kinds of attention, layers or heads; side by side they must be the same");
}

void write_attention_page(const std::string& path, const std::vector<AttentionSide>& sides, const std::string& model,
                          PageVectors vectors) {
  double weights = 0, bytes = 0;
  for (const AttentionSide& side : sides) {
    weights += weight_count(side.report);
    bytes += vector_bytes(side.report);
  }
  check<UsageError>(weights <= most_weights, "a page holds at most ", std::llround(most_weights * 1e-6),
                    " million weights, and these are ", std::llround(weights * 1e-6),
                    "; choose fewer layers with --layer, shorten the text, or write a .h5 file");
  const bool has_vectors =
      vectors == PageVectors::all || (vectors == PageVectors::automatic && bytes <= automatic_vectors);
  Json notes = Json::array();
  if (bytes == 0) {
    notes.push_back("This attention does not compare queries and keys by their products, so the page has none.");
  } else if (!has_vectors) {
    notes.push_back("The vectors of queries and keys are not in this page; --vectors all puts them in.");
  }
  Json data{{"generator", "heddle " + cli::version()}, {"model", printable(model)}, {"notes", std::move(notes)}};
  add_side(data, sides.front().report, has_vectors);
  if (sides.size() > 1) {
    data["side"] = printable(sides[0].name);
    data["beside"] = {{"side", printable(sides[1].name)}};
    add_side(data["beside"], sides[1].report, has_vectors);
  }
  write_page(path, "Attention of " + printable(model), attention_parts(), data);
}

}  // namespace heddle
