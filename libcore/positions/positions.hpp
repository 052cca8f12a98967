// Position schemes. A scheme acts at up to three places: it adds vectors to embeddings, transforms queries and keys,
// and adds terms by offset to attention scores and values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/base/settings.hpp"
#include "libcore/ops/attention_offsets.hpp"

namespace heddle {

// The stack that uses the positions.
struct PositionShape {
  std::optional<Index> context;  // number of positions of the model; none: unlimited
  Index width;                   // width of the embeddings that positions are added to
  Index heads, head_width;       // heads of attention
  double stddev;                 // initial stddev of learned vectors and biases
  bool causal = false;           // queries see no keys after them
  Index stack_width = 0;         // width of the states that attention reads; 0: width

  Index width_of_states() const { return stack_width > 0 ? stack_width : width; }
};

// Requirements of a scheme on the attention that uses it.
struct PositionNeeds {
  bool bias = false;               // OffsetTerms::bias
  bool relative = false;           // OffsetTerms::query or key
  bool offset_values = false;      // OffsetTerms::value
  bool key_for_each_head = false;  // no key head is shared by heads
  std::string whole{};             // not empty: all keys of a sequence at once, not step by step; what does without
};

// The queries and keys of one call of attention, with their positions.
struct PositionedHeads {
  Variable query, key;  // [batch, heads, time, head_width]
  ops::OffsetTerms offsets{};
};
// Positions of queries and keys: row b of queries and of keys begins at these positions (empty: 0 in every row), and no
// query attends to a key farther from it than key_time - 1.
struct PositionPlaces {
  const std::vector<Index>&queries, &keys;
  Index key_time;
};

// The positions of one attention layer.
class AttentionPositions {
 public:
  virtual ~AttentionPositions() = default;
  virtual PositionNeeds needs() const { return {}; }
  // Whether it rotates queries and keys by their positions. Then only scores that do not change where both are rotated
  // alike (AttentionSupport::rotation) depend on distances alone.
  virtual bool rotates() const { return false; }
  // Shapes: query [batch, heads, query_time, head_width], key [batch, kv_heads, time, head_width] -> the same.
  virtual PositionedHeads apply(const Variable& query, const Variable& key, const PositionPlaces& places) const = 0;
};

class Positions {
 public:
  virtual ~Positions() = default;

  // Maximum number of positions; none if unlimited.
  virtual std::optional<Index> limit() const { return std::nullopt; }

  // Whether embed() adds vectors of positions: a sequence that continues another begins with those of its own
  // beginning.
  virtual bool is_absolute() const { return false; }

  // Embeddings with their positions: x [batch, time, width], rows beginning at `starts` as above. Rows with starts may
  // end in padding beyond the limit.
  virtual Variable embed(const Variable& x, const std::vector<Index>& starts) const;

  // The scheme in one layer, whose own parameters are declared in the scope; null if it does not act in attention.
  virtual std::shared_ptr<const AttentionPositions> for_layer(const Scope& scope) const;
};

// Schemes that act in attention alone: in every layer alike, or with parameters of each layer.
std::shared_ptr<const Positions> same_in_every_layer(std::shared_ptr<const AttentionPositions> layer);
std::shared_ptr<const Positions> made_for_each_layer(
    std::function<std::shared_ptr<const AttentionPositions>(const Scope& scope)> make);

// The scheme that the text names ("learned:offset=2"); parameters that its stack's layers share are declared in the
// scope. Throws UsageError for unknown names, which lists the known ones, for unknown settings, and for shapes that the
// scheme does not support.
std::shared_ptr<const Positions> make_positions(const std::string& text, const Scope& scope,
                                                const PositionShape& shape);

// The text without settings that have their default. Throws like make_positions().
std::string shortest_positions(const std::string& text, const PositionShape& shape);

// The context to build a scheme with: the given one, or, for a scheme that needs one, the fallback.
std::optional<Index> context_of(const std::string& positions, std::optional<Index> given, Index fallback);

using PositionScheme = NameHelp;
// All schemes, in the order of positions.def, with their settings.
const std::vector<PositionScheme>& position_schemes();

}  // namespace heddle
