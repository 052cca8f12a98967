// score_ij = (q_i . k_j + q_i . W_k r_d(i, j) + k_j . W_q r_d(j, i)) / sqrt(terms key_width), d(i, j) = clip(i - j +
// reach, 0, 2 reach - 1), with a learned vector r_d for each distance, which the layers of a stack share, and W_k and
// W_q of each layer (SPEC 2.7). Source: He et al. 2021, "DeBERTa", equations 2 to 4; the published code divides alike,
// by the number of terms in use, but takes i - j for both terms, which is not done here. Absolute positions, which that
// model adds before its last softmax, are not added. Settings: reach, 512; terms, which of the two terms with positions
// are used: `both`, `queries` (the first) or `keys`. Parameters: weight [2 reach, width], and for each layer key and
// query [heads * head_width, width].
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "libcore/ops/gather.hpp"
#include "libcore/ops/heads.hpp"
#include "libcore/positions/offset_scores.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

struct Terms {
  bool of_queries, of_keys;
};

class DisentangledLayer : public AttentionPositions {
 public:
  DisentangledLayer(const Scope& scope, const PositionShape& shape, Terms terms, Variable vectors)
      : heads_(shape.heads), reach_(vectors.shape()[0] / 2), causal_(shape.causal), vectors_(std::move(vectors)) {
    const auto matrix = [&](bool wanted, const char* name) {
      const Shape size{shape.heads * shape.head_width, shape.width_of_states()};
      return wanted ? scope.parameter(name, size, Initializer::normal(shape.stddev), Decay::yes) : Variable();
    };
    key_ = matrix(terms.of_queries, "key");
    query_ = matrix(terms.of_keys, "query");
  }

  PositionNeeds needs() const override {
    return {.relative = true,
            .key_for_each_head = !query_.empty(),
            .whole = query_.empty() ? "" : "disentangled:terms=queries"};
  }

  // Queries and the vectors that meet keys are divided by sqrt(terms); attention divides by sqrt(key_width).
  PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const override {
    const int terms = 1 + (key_.empty() ? 0 : 1) + (query_.empty() ? 0 : 1);
    const auto factor = static_cast<Real>(1 / std::sqrt(static_cast<double>(terms)));
    PositionedHeads result{ops::shift_heads(query, {}, factor), key};
    if (!key_.empty()) {
      const Near near = near_offsets(places.key_time, reach_ - 1);
      std::vector<Index> rows;  // r_d of i - j, that is, of the offset j - i backwards
      for (const Index row : near.rows) rows.push_back(2 * reach_ - 1 - row);
      result.offsets.query = {offset_scores(result.query, ops::gather_rows(as_reals(vectors_), rows), key_), near.zero};
    }
    if (!query_.empty()) {
      check<ShapeError>(key.shape()[1] == heads_, "disentangled positions of keys need a key head for each head");
      const Near near = near_offsets(places.key_time, reach_);
      result.offsets.key = {
          offset_scores(ops::shift_heads(key, {}, factor), ops::gather_rows(as_reals(vectors_), near.rows), query_),
          near.zero};
    }
    return result;
  }

 private:
  struct Near {
    std::vector<Index> rows;
    Index zero;
  };
  // The rows of a table of all distances, whose row `zero` is of offset 0, that so many keys need: those of far offsets
  // would cost as much.
  Near near_offsets(Index key_time, Index zero) const {
    const Index first = std::max(Index{0}, zero - (key_time - 1));
    const Index last = std::min(2 * reach_ - 1, causal_ ? zero : zero + key_time - 1);
    Near near{.rows = std::vector<Index>(static_cast<std::size_t>(last - first + 1)), .zero = zero - first};
    std::iota(near.rows.begin(), near.rows.end(), first);
    return near;
  }

  Index heads_, reach_;
  bool causal_;
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
      scope.parameter("weight", {2 * reach, shape.width_of_states()}, Initializer::normal(shape.stddev), Decay::yes);
  return made_for_each_layer([shape, terms, vectors](const Scope& layer) {
    return std::make_shared<DisentangledLayer>(layer, shape, terms, vectors);
  });
}

}  // namespace heddle
