// Embeddings of tokens that are added to the values of attention: v + s e of a token, s of each layer that has one.
// Source: Jordan et al. 2024, "modded-nanogpt", whose first layers and last ones share tables; after Zhou et al. 2024,
// "Value residual learning".
#pragma once

#include <vector>

#include "libcore/nn/embedding.hpp"
#include "libcore/nn/multi_head_attention.hpp"

namespace heddle::nn {

// Table i is of layer i and of layer `layers` - `tables` + i.
// Parameters: embedding/value/0/weight, … [vocab, width], which start as zeros, so that a model begins as one without
// them; value_scale/LAYER [1], which start as 1.
class ValueEmbeddings {
 public:
  struct Options {
    Index vocab, width;  // width: of all key-value heads together
    Index layers, tables;
  };
  ValueEmbeddings(const Scope& stack, const Options& options);

  // Term that each layer adds, empty if it has no table: ids [batch, time] -> [batch, time, width] each.
  std::vector<AddedValues> operator()(const TokenIds& ids) const;

 private:
  std::vector<Embedding> tables_;
  std::vector<Variable> scales_;  // scales of each layer; empty: it has no table
};

}  // namespace heddle::nn
