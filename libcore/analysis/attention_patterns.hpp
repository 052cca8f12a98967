// Statistics of attention weights: about heads and about a whole stack.
#pragma once

#include <functional>
#include <vector>

#include "libcore/tensor/tensor.hpp"

namespace heddle::analysis {

// Mean attention of the queries of a head attend to, as means over its queries.
struct HeadPattern {
  double first = 0;              // weight of the first key
  double previous = 0, own = 0;  // weight of the key before the query, and of its own; queries and keys of one text
  double next = 0;               // weight of the key after it
  double distance = 0;           // mean of |i - j|
  double bits = 0;               // entropy of the weights
};
// weights [queries, keys]. Query 0 has no previous key, the last one no next one: they count as weight 0.
HeadPattern head_pattern(const Tensor& weights);

// A weight of one head.
struct AttentionLink {
  Index query, key;
  Real weight;
};
// The `count` largest weights of weights [queries, keys], the largest first; of equal ones the earlier query and key.
// Weights that are not finite are left out, and pairs that `hides` is true of.
using HidesPair = std::function<bool(Index query, Index key)>;
std::vector<AttentionLink> strongest_links(const Tensor& weights, Index count, const HidesPair& hides = {});

// The weight that goes to these keys together, as a mean over the queries. Precondition: keys of the weights.
double weight_of_keys(const Tensor& weights, const std::vector<Index>& keys);

// Attention rollout: how much each position's input contributes to each position after so many layers, if residual
// connections and attention contribute alike: A_l = (mean over heads + I) / 2, the result A_l … A_1.
// Source: Abnar and Zuidema 2020, "Quantifying attention flow in transformers", section 3.1.
class AttentionRollout {
 public:
  // weights [heads, time, time] of the next layer -> [time, time], rows sum to 1.  Throws ShapeError.
  const Tensor& add(const Tensor& weights);

 private:
  Tensor product_;
};

}  // namespace heddle::analysis
