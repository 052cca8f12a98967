// Self-attention with its projections, positions, segments and masks as the papers' equations read, in plain loops over
// doubles and over the texts as wholes: what layers must compute, however a text is cut into windows, steps or single
// queries. Every variant and every scheme of positions has its equation here (SPEC 1, 2, 4.6).
#pragma once

#include <string>
#include <vector>

#include "libcore/attention/oracles.hpp"
#include "libcore/autograd/parameters.hpp"

namespace heddle::testing {

using Rows = std::vector<std::vector<double>>;  // [time][width]

// Row `row` of x [batch, time, width], and the other way round.
Rows rows_of(const Tensor& x, Index row);
Tensor tensor_of(const std::vector<Rows>& batch);

struct NaiveSelfAttention {
  const Parameters& parameters;
  std::string layer;      // the path of its parameters
  std::string embedding;  // prefix of the position parameters that layers share
  std::string variant, positions;
  HeadShape shape;
  bool causal = false;
  double norm_epsilon = 1e-5;  // epsilon of the norms of queries and keys, if any

  // One sequence. Its mask has one query offset, the position of the first query, and one length at most.
  struct Text {
    Mask mask{};
    std::vector<TokenId> segments{};  // segments of all keys; empty: ignored
    Rows values{};                    // added to the values of all keys; empty: nothing
  };
  // The results of `asking`, which attend to `seen`; the weights are [heads][query][key].
  Rows operator()(const Rows& asking, const Rows& seen, const Text& text) const;
  std::vector<Rows> weights(const Rows& asking, const Rows& seen, const Text& text) const;

  // Embeddings of the tokens from position `first` on, with the positions that are added to them.
  Rows embed(Rows x, Index first) const;
};

}  // namespace heddle::testing
