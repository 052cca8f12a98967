// The input of a stack of blocks: a vector for each token.
#pragma once

#include <optional>
#include <vector>

#include "libcore/nn/embedding.hpp"
#include "libcore/nn/norm.hpp"
#include "libcore/ops/pass.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle::nn {

struct InputEmbeddingsOptions {
  Index vocab, width;
  double stddev;  // initial stddev of token and segment embeddings
  std::string positions = "learned";
  PositionShape position_shape;
  std::optional<Index> context;       // maximum number of tokens in a sequence; none: unlimited
  Index segments = 0;                 // kinds of segments; 0: none
  const Embedding* tokens = nullptr;  // another stack's, which this one uses too; null: its own
  std::optional<NormOptions> norm{};
};

// x = drop(norm(token + position + segment)), beside the stack that reads it, so that stacks may share one.
// Parameters: token/weight [vocab, width] where tokens are its own; position and segment/weight [segments, width] and
// norm where there are any.
class InputEmbeddings {
 public:
  InputEmbeddings(const Scope& scope, const InputEmbeddingsOptions& options);

  // ids [batch, time], a segment for each (empty: all 0), positions starting at starts[b] (empty: at 0 in every row;
  // rows with starts may end in padding beyond the context) -> [batch, time, width], Real, before dropout.
  // Throws DataError for ids and segments outside their tables and where every row is longer than the context.
  Variable operator()(const TokenIds& ids, const std::vector<TokenId>& segments,
                      const std::vector<Index>& starts = {}) const;
  // The same with these vectors [batch, time, width] in place of those of tokens; they are not longer than the context.
  Variable around(const Variable& vectors, const std::vector<TokenId>& segments,
                  const std::vector<Index>& starts = {}) const;
  Variable drop(const Variable& x, const Pass& pass) const { return pass.drop(x, dropout_site_); }

  const Embedding& tokens() const { return tokens_; }
  const Positions& positions() const { return *positions_; }
  std::optional<Index> context() const { return context_; }

 private:
  std::optional<Index> context_;
  Embedding tokens_;
  std::shared_ptr<const Positions> positions_;
  std::optional<Embedding> segments_;
  std::optional<Norm> norm_;
  std::uint64_t dropout_site_;
};

}  // namespace heddle::nn
