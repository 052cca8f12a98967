// score_ij = (q_i . k_j + q_i . W_k r_d(i, j) + k_j . W_q r_d(j, i)) / sqrt(terms key_width), d(i, j) = clip(i - j +
// reach, 0, 2 reach - 1), with a learned vector r_d for each distance, which the layers of a stack share, and W_k and
// W_q of each layer (SPEC 2.7). Source: He et al. 2021, "DeBERTa", equations 2 to 4; the published code divides alike,
// by the number of terms in use, but takes i - j for both terms, which is not done here. Absolute positions, which that
// model adds before its last softmax, are not added. Settings: reach, 512; terms, which of the two terms with positions
// are used: `both`, `queries` (the first) or `keys`. Parameters: weight [2 reach, width], and for each layer key and
// query [heads * head_width, width].
#include <cmath>

#include "heddle/ops/gather.hpp"
#include "heddle/ops/heads.hpp"
#include "heddle/positions/offset_scores.hpp"
#include "heddle/positions/positions.hpp"

namespace heddle {

namespace {

struct Terms {
  bool of_queries, of_keys;
};

class DisentangledLayer : public AttentionPositions {
 public:
  DisentangledLayer(const Scope& scope, const PositionShape& shape, Terms terms, Variable vectors)
      : heads_(shape.heads), reach_(vectors.shape()[0] / 2), vectors_(std::move(vectors)) {
    const auto matrix = [&](bool wanted, const char* name) {
      const Shape size{shape.heads * shape.head_width, shape.width};
      return wanted ? scope.parameter(name, size, Initializer::normal(shape.stddev), Decay::yes) : Variable();
    };
    key_ = matrix(terms.of_queries, "key");
    query_ = matrix(terms.of_keys, "query");
  }

  PositionNeeds needs() const override { return {.relative = true, .whole = query_.empty() ? "" : "disentangled:terms=queries"}; }

  // Queries and the vectors that meet keys are divided by sqrt(terms); attention divides by sqrt(key_width).
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces&) const override {
    const int terms = 1 + (key_.empty() ? 0 : 1) + (query_.empty() ? 0 : 1);
    const auto factor = static_cast<Real>(1 / std::sqrt(static_cast<double>(terms)));
    PositionedHeads result{ops::shift_heads(query, {}, factor), key};
    if (!key_.empty()) result.offsets.query = {offset_scores(result.query, by_offset(), key_), reach_ - 1};
    if (!query_.empty()) {
      check<ShapeError>(key.shape()[1] == heads_, "disentangled positions of keys need a key head for each head");
      result.offsets.key = {offset_scores(ops::shift_heads(key, {}, factor), vectors_, query_), reach_};
    }
    return result;
  }

 private:
  // Row c is r_d of i - j = reach - 1 - c, that is, of the offset j - i = c - (reach - 1).
  Variable by_offset() const {
    std::vector<Index> rows;
    for (Index row = 2 * reach_ - 1; row >= 0; --row) rows.push_back(row);
    return ops::gather_rows(vectors_, rows);
  }

  Index heads_, reach_;
  Variable vectors_, key_, query_;
};

}  // namespace

std::shared_ptr<const Positions> make_DisentangledPositions(Settings& settings, const Scope& scope,
                                                            const PositionShape& shape) {
  const Index reach = settings.index({"reach", "distance beyond which all are one"}, 512, 1, 100000);
  const std::string which =
      settings.word({"terms", "whose products with positions are added"}, "both", {"both", "queries", "keys"});
  const Terms terms{which != "keys", which != "queries"};
  const Variable vectors =
      scope.parameter("weight", {2 * reach, shape.width}, Initializer::normal(shape.stddev), Decay::yes);
  return made_for_each_layer([shape, terms, vectors](const Scope& layer) {
    return std::make_shared<DisentangledLayer>(layer, shape, terms, vectors);
  });
}

}  // namespace heddle
