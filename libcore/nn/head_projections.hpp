// Projections of a layer's states to the queries, keys and values of heads.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "libcore/attention/attention.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/nn/stacked_linear.hpp"

namespace heddle {

enum class Projections {
  standard,  // matrices of the whole states (Vaswani et al. 2017, 3.2.2)
  narrow,    // each head has a matrix of its own part of the states: 1 / heads of the numbers (SPEC 1.3)
  none,      // each head gets its part of the states (SPEC 1.1)
};
template <>
struct Names<Projections> {
  static constexpr std::pair<Projections, std::string_view> list[] = {
      {Projections::standard, "standard"}, {Projections::narrow, "narrow"}, {Projections::none, "none"}};
};

namespace nn {

struct HeadProjectionOptions {
  Projections kind = Projections::standard;
  Index width;         // width of the states that give queries
  Index memory_width;  // width of the states that give keys and values
  bool same_source;    // they are the same states
  HeadShape shape;
  Bias bias;
  double stddev;
};

// [batch, heads, time, width of a head] each; the query may be empty.
struct Heads {
  Variable query, key, value;
};

// Shapes: states [batch, time, width].
class HeadProjections {
 public:
  virtual ~HeadProjections() = default;
  virtual Variable query(const Variable& x, const Pass& pass) const = 0;
  virtual Heads memory(const Variable& states, const Pass& pass) const = 0;  // key and value
  // All of the same states; with positions, one for each sequence, the queries of these alone.
  virtual Heads all(const Variable& x, const Pass& pass, const std::vector<Index>& positions) const;
};

// The heads that a rank has where ranks share the model of the scope. Throws UsageError where they do not divide them.
HeadShape own_heads(const Scope& scope, const HeadShape& all);

// The options have the shape of all heads; ranks that share the model have their own_heads() of standard projections.
// Parameters: standard: query/weight [heads * key_width, width], key/weight [kv_heads * key_width, memory_width],
// value/weight [kv_heads * value_width, memory_width] and a bias each; narrow: query/weight, key/weight and
// value/weight [heads, width / heads, width of a head].  Throws UsageError for shapes that do not go together.
std::unique_ptr<const HeadProjections> make_head_projections(const Scope& scope, const HeadProjectionOptions& options);

}  // namespace nn
}  // namespace heddle
