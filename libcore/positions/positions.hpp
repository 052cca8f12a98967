// Position schemes. A scheme acts at up to three places: it adds vectors to embeddings, transforms queries and keys,
// and adds a bias to attention scores.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/autograd/parameters.hpp"
#include "heddle/base/settings.hpp"

namespace heddle {

// The stack that uses the positions.
struct PositionShape {
  std::optional<Index> context;  // number of positions of the model; none: unlimited
  Index width;                   // of embeddings
  Index heads, head_width;       // of attention
  double stddev;                 // of learned vectors and biases at the start
  bool causal = false;           // queries see no keys after them
};

// The positions of one attention layer.
class AttentionPositions {
 public:
  virtual ~AttentionPositions() = default;

  // Queries or keys with their positions: x [batch, heads, time, head_width], of which row b begins at position
  // starts[b] (empty: 0 in every row) -> the same shape.
  virtual Variable transform(const Variable& x, const std::vector<Index>& starts) const;

  // Added to the scaled scores: [heads or 1, 2 reach + 1], entry (key position - query position) + reach; key_time - 1
  // or less, where all distances beyond have the entry of the reach. Empty where nothing is added.
  virtual Variable offset_bias(Index key_time) const;
};

class Positions {
 public:
  virtual ~Positions() = default;

  // Maximum number of positions; none if unlimited.
  virtual std::optional<Index> limit() const { return std::nullopt; }

  // Embeddings with their positions: x [batch, time, width], rows beginning at `starts` as above. Rows with starts may
  // end in padding beyond the limit.
  virtual Variable embed(const Variable& x, const std::vector<Index>& starts) const;

  // Of one layer, whose own parameters are declared in the scope; null if the scheme does not act in attention.
  virtual std::shared_ptr<const AttentionPositions> for_layer(const Scope& scope) const;
};

// The scheme that the text names ("learned:offset=2"); parameters that its stack's layers share are declared in the
// scope. Throws UsageError for unknown names, which lists the known ones, for unknown settings, and for shapes that the
// scheme does not support.
std::shared_ptr<const Positions> make_positions(const std::string& text, const Scope& scope,
                                                const PositionShape& shape);

// The text without settings that have their default. Throws like make_positions().
std::string shortest_positions(const std::string& text, const PositionShape& shape);

// The context to build a scheme with: the given one, or, for a scheme that needs one, the fallback.
std::optional<Index> context_of(const std::string& positions, std::optional<Index> given, Index fallback);

struct PositionScheme {
  std::string name, summary;
};
// All schemes, in the order of positions.def.
const std::vector<PositionScheme>& position_schemes();

}  // namespace heddle
