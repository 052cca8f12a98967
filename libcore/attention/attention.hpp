// Attention variants: y_i = sum over allowed j of w_ij v_j. A variant defines the weights w; it need not form them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/base/edge_rows.hpp"
#include "libcore/base/settings.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/ops/fused_attention.hpp"
#include "libcore/ops/pass.hpp"
#include "libcore/ops/segment_bias.hpp"

namespace heddle {

// State of a variant for stepwise decoding: its record of earlier positions (a key-value cache, for example).
class AttentionState {
 public:
  virtual ~AttentionState() = default;
  // Replaces row i by the former row rows[i], when beams are reordered or finished lines leave a batch.
  virtual void reorder(const std::vector<Index>& rows) = 0;
};

// Features that a variant supports, or that a model needs.
struct AttentionSupport {
  bool causal = false;         // hides the future
  bool cross = false;          // query_time != key_time
  bool cached = false;         // start() and step()
  bool window = false;         // limits the distance
  bool pairs = false;          // hides single pairs
  bool grouped = false;        // fewer key heads than query heads
  bool bias = false;           // adds a bias of positions to scores
  bool relative = false;       // adds products of queries and keys with positions to scores
  bool offset_values = false;  // adds positions to values
  bool segments = false;       // adds products of queries with vectors of segments to scores
  bool weights = false;        // returns its weights
  bool rotation = false;       // has the same scores where queries and keys are rotated together
  bool edges = false;          // attends along the edges of a graph

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("causal", "cannot hide the future, as decoders must"), self.causal);
    visitor(Field("cross", "cannot attend to another sequence"), self.cross);
    visitor(Field("cached", "cannot continue texts step by step"), self.cached);
    visitor(Field("window", "has no window; a memory of earlier windows needs one, too"), self.window);
    visitor(Field("pairs", "cannot hide single pairs of positions"), self.pairs);
    visitor(Field("grouped", "needs as many key heads as heads"), self.grouped);
    visitor(Field("bias", "computes no scores to which the bias of these positions could be added"), self.bias);
    visitor(Field("relative", "computes no products of queries and keys to which these positions could add theirs"),
            self.relative);
    visitor(Field("offset_values", "cannot add these positions to its values"), self.offset_values);
    visitor(Field("segments", "computes no products of queries and keys to which relative segments could add theirs"),
            self.segments);
    visitor(Field("weights", "does not return its weights"), self.weights);
    visitor(Field("rotation",
                  "changes its scores if queries and keys are rotated together, so with these positions the result of "
                  "a memory depends on where windows begin"),
            self.rotation);
    visitor(Field("edges", "cannot attend along the edges of a graph"), self.edges);
  }
};

// A variant whose weights are random estimates of another's.
struct AttentionEstimate {
  std::string of;       // the other variant
  std::string setting;  // a whole number; the larger it is, the smaller the error
};

struct HeadShape {
  Index heads, key_width;
  Index kv_heads = heads, value_width = key_width;
};

// The input of a variant. Shapes: query [batch, heads, query_time, key_width], key [batch, kv_heads, key_time,
// key_width], value [batch, kv_heads, key_time, value_width], any strides with neighbouring elements of a head
// together.
struct AttentionCall {
  Variable query, key, value;
  Mask mask{};
  ops::OffsetTerms offsets{};  // position terms
  ops::SegmentTerm segments{};
  std::vector<Index> key_rows{};  // the row of key and value of each row of queries; empty: the same. Never recorded
  Pass pass{};                    // for random numbers that depend on the step of training
  // Along the edges of graphs, whose nodes are the positions, those of all graphs side by side as one batch: where
  // there are edges, each node attends to the sources of those into it, and mask, offsets, segments and key_rows say
  // nothing.
  std::shared_ptr<const EdgeRows> edges{};
  Variable edge_terms{};   // [edges, heads * Attention::edge_term_width()]: what edges say themselves; empty: nothing
  Variable edge_values{};  // [edges, heads * value_width]: added to the values of the sources; empty: nothing
  Tensor edge_factors{};   // [edges, heads]: by which weights are multiplied at last, as dropout does; empty: 1
};

// For each row of a batch: the number of positions seen before a step, and of new positions that are not padding.
struct StepRows {
  std::vector<Index> seen, added;
};

// A number of positions of at least `length` that stays the same for an eighth of all steps so far, so that what a step
// computes from all keys takes the memory of the step before, and not a block of its own size.
Index steady_length(Index length);

// The weights of all pairs; and, where a variant compares queries and keys by products, what they are products of: the
// score of a pair is scale q . k, plus terms of positions and of edges if there are any.
struct PairWeights {
  Tensor weights;  // [batch, heads, query_time, key_time], or along edges [edges, heads]; Reals
  // [batch, heads, query_time, width] and [rows, kv_heads, key_time, width], where AttentionCall::key_rows picks rows.
  Tensor query{}, key{};
  Real scale = 1;
  // For heads with projections, if nothing else affects the values: computes [batch, heads, key_time], the length of
  // what each key would add to the result of attention with weight 1. Source: Kobayashi et al. 2020, "Attention is not
  // only a weight", equation 4.
  std::function<Tensor()> value_lengths{};
};

class Attention {
 public:
  virtual ~Attention() = default;
  virtual AttentionSupport support() const = 0;
  // Whether query, key and value are projections of the states and the result is projected again; else they are the
  // states themselves, cut into heads.
  virtual bool has_projections() const { return true; }

  // How many numbers of each head an edge has to say: 1, which is added to its score, or as many as vary within it.
  virtual Index edge_term_width() const { return 1; }

  // A whole sequence, or the nodes of graphs -> [batch, query_time, heads, value_width], contiguous.
  virtual Variable mix(const AttentionCall& call) const = 0;

  // A state for up to `capacity` positions of each of `batch` sequences, stored as Reals or bfloat16; where steps have
  // a window, it keeps only the positions that later ones may attend to, so that a text may be of any length.
  // Precondition, for step() too: support().cached.
  virtual std::unique_ptr<AttentionState> start(Index batch, Index capacity, DType dtype) const;

  // Appends the keys and values of new positions and computes the attention of their queries; causal, with the mask's
  // window, never recorded. Row b has seen rows.seen[b] positions and gets the first rows.added[b] of the `time` new
  // ones; the others are padding. Shapes: as above, with query_time = key_time = time -> [batch, time, heads,
  // value_width].
  virtual Tensor step(const AttentionCall& call, const StepRows& rows, AttentionState& state) const;

  // The quantity that its weights estimate; none: the weights define the variant.
  virtual std::optional<AttentionEstimate> estimate() const { return std::nullopt; }

  // Never recorded. Precondition: support().weights.
  virtual PairWeights weights(const AttentionCall& call) const;
};

// Scopes in which a variant declares parameters: its own layer, and the whole stack for shared ones (Scope::shared).
struct AttentionScopes {
  Scope layer, stack;
};

// The variant that the text names ("dot", "performer:features=256"). Throws UsageError, which lists the known names,
// for an unknown one, for unknown settings, and for shapes that the variant does not support.
std::unique_ptr<Attention> make_attention(const std::string& text, const AttentionScopes& scopes, HeadShape shape);

// Throws UsageError if the variant does not support all that is needed: "attention NAME …".
void check_support(const std::string& text, const AttentionSupport& has, const AttentionSupport& needed);

using AttentionVariant = NameHelp;
// All variants, in the order of variants.def, with their settings.
const std::vector<AttentionVariant>& attention_variants();

}  // namespace heddle
