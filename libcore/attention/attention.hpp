// How values are mixed: y_i = sum over allowed j of w_ij v_j. A variant decides the weights; it never has to form them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/attention/settings.hpp"
#include "heddle/ops/attention.hpp"

namespace heddle {

// What a variant remembers of the positions it has seen, for decoding step by step.
class AttentionState {
 public:
  virtual ~AttentionState() = default;
  // Row i becomes what row rows[i] was, as beams are reordered or finished lines leave a batch.
  virtual void reorder(const std::vector<Index>& rows) = 0;
};

struct AttentionSupport {
  bool causal = true;   // masks that hide the future
  bool cross = true;    // query_time != key_time
  bool cached = true;   // step()
};

struct HeadShape {
  Index heads, width;
};

class Attention {
 public:
  virtual ~Attention() = default;
  virtual AttentionSupport support() const { return {}; }

  // A whole sequence. Shapes: query [batch, heads, query_time, head_width], key and value
  // [batch, heads, key_time, head_width], any strides -> [batch, query_time, heads, head_width], contiguous.
  virtual Variable mix(const Variable& query, const Variable& key, const Variable& value, const Mask& mask) const = 0;

  // A state for up to `capacity` positions of each of `batch` sequences, stored as Reals or bfloat16.
  virtual std::unique_ptr<AttentionState> start(Index batch, Index capacity, HeadShape shape,
                                                Element element) const = 0;

  // Appends the keys and values of some new positions and mixes for their queries; causal, never recorded. Row b has
  // seen seen[b] positions and gets the first added[b] of the `time` new ones; what lies behind them is padding.
  // Shapes: query, key, value [batch, heads, time, head_width] -> [batch, time, heads, head_width].
  virtual Tensor step(const Tensor& query, const Tensor& key, const Tensor& value, const std::vector<Index>& seen,
                      const std::vector<Index>& added, Index window, AttentionState& state) const = 0;
};

// The variant that the text names ("dot", "performer:features=256"). Throws UsageError for unknown names, which lists
// the known ones, and for unknown settings.
std::unique_ptr<Attention> make_attention(const std::string& text, HeadShape shape);

struct AttentionVariant {
  std::string name, summary;
};
// All variants, in the order of variants.def.
const std::vector<AttentionVariant>& attention_variants();

}  // namespace heddle
