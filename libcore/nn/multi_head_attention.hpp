// Attention in several heads: A = [head_1 .. head_h] W_O, head_i = mix(X W_Q^i, Y W_K^i, Y W_V^i), where Y is X itself
// or the states of another sequence. Several heads may share one head of keys and values. Source: Vaswani et al.
// 2017, 3.2.2; Ainslie et al. 2023, "GQA".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/attention/attention.hpp"
#include "libcore/nn/head_projections.hpp"
#include "libcore/nn/norm.hpp"
#include "libcore/nn/relative_segments.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle::nn {

struct AttentionOptions {
  std::string variant = "dot";
  Index width;                 // width of the queries' states and of the result
  HeadShape shape;             // throws UsageError unless heads is a multiple of kv_heads
  Index memory_width = width;  // width of the states attended to
  AttentionSupport needed{};   // requirements of the model; throws UsageError if the variant does not support them
  const Positions* positions = nullptr;
  bool relative_segments = false;
  Projections projections = Projections::standard;  // for variants that have projections
  bool output = true;       // a matrix of the heads' results together; else these are the result. Only with projections
  bool head_norm = false;   // RMS norm of the queries and keys of each head (Henry et al. 2020, "QKNorm"; Dehghani et
                            // al. 2023)
  bool head_gates = false;  // each head's result times sigmoid(w . x), x what asks (Qiu et al. 2025, "Gated attention")
  double norm_epsilon = 1e-5;
  Bias bias = Bias::yes;
  double stddev = 0.02, output_stddev = 0.02;
};

// Term added to the values of x before attention mixes them: scale vectors.
struct AddedValues {
  Variable vectors{};  // [batch, time, kv_heads * value_width], Real; empty: nothing
  Variable scale{};    // [1]
};

// Inputs of self-attention besides x [batch, time, width]; each may be empty.
struct Surroundings {
  Variable earlier{};  // [batch, earlier_time, width]: positions before x, used as keys and values only
  Variable content{};  // [batch, time, width]: keys and values come from content; x supplies queries only
  std::shared_ptr<const TokenIds> segments{};  // segments of x, [batch, time]; null: a single one
  AddedValues values{};                        // added to the values of x
};

// The projections and the variant, which self- and cross-attention have in common. A variant without projections gets
// the states themselves, cut into heads, and its result is that of the module.
// Parameters: those of the projections; with head_norm query_norm/gain and key_norm/gain [key_width]; with
// head_gates gate/weight [heads, width]; output/weight [width, heads * value_width] and a bias, unless there is none.
// Ranks that share the model divide the heads; throws UsageError for attention of which they cannot.
class MultiHeadAttention {
 public:
  MultiHeadAttention(const MultiHeadAttention&) = delete;
  MultiHeadAttention(MultiHeadAttention&&) = default;

  AttentionSupport support() const { return variant().support(); }
  const Attention& variant() const { return *attention_; }
  const AttentionPositions* positions() const { return positions_.get(); }  // null where they do not act in attention
  const HeadShape& shape() const { return shape_; }                         // shape of this rank's heads

 protected:
  enum class Source { same, other };  // source of keys and values: the sequence of the queries, or another one
  MultiHeadAttention(const Scope& scope, const Scope& stack, const AttentionOptions& options, Source source);

  // key_time: no allowed key is farther from its query than key_time - 1.
  AttentionCall call(const Heads& heads, const Mask& mask, const std::vector<Index>& key_starts, Index key_time,
                     const Pass& pass = {}) const;
  // The variant's weights, with the lengths of values.
  PairWeights pair_weights(const AttentionCall& call) const;
  // [batch, time, heads, value_width] -> [batch, time, width]
  Variable mix(const AttentionCall& call) const;
  // x [batch, time, width] is the block's input, from which queries came.
  Variable merge(const Variable& mixed, const Variable& x, const Variable& residual, const Pass& pass) const;
  const HeadProjections& inputs() const { return *inputs_; }
  // States that all heads read, for those of this rank.
  Variable read(const Variable& x) const;
  // The heads, their queries and keys, where they have any, normalised as scores see them before positions.
  Heads normed(Heads heads) const;
  // Adds the given vectors to the values.
  Heads add_values(Heads heads, const AddedValues& values) const;

 private:
  Tensor value_lengths(const Tensor& values) const;

  HeadShape shape_;
  std::unique_ptr<const Attention> attention_;
  std::shared_ptr<const AttentionPositions> positions_;
  const ModelRanks* ranks_;  // ranks that share the heads; null: a single one
  std::unique_ptr<const HeadProjections> inputs_;
  std::optional<Norm> query_norm_, key_norm_;
  std::optional<Linear> gate_;
  std::optional<Linear> output_;
};

// X attends to itself.
// Parameters besides: segments/… where options ask for them.
class SelfAttention : public MultiHeadAttention {
 public:
  SelfAttention(const Scope& scope, const Scope& stack, const AttentionOptions& options);

  // x [batch, time, width] -> the same, plus a residual where one is given. With positions, one for each sequence, only
  // these query positions are computed: -> [batch, 1, width]. The mask is of x: with earlier positions, query i stands
  // earlier_time after key i, and they have no lengths of their own.
  Variable operator()(const Variable& x, const Mask& mask, const Variable& residual = {}, const Pass& pass = {},
                      const std::vector<Index>& positions = {}, const Surroundings& around = {}) const;
  // [batch, heads, time, time]; rows of queries sum to 1.
  PairWeights weights(const Variable& x, const Mask& mask, const Surroundings& around = {}) const;

  std::unique_ptr<AttentionState> start(Index batch, Index capacity, DType cache) const;
  Variable step(const Variable& x, const StepRows& rows, Index window, AttentionState& state, const Variable& residual,
                const AddedValues& values = {}) const;

 private:
  AttentionCall seen_call(const Variable& x, const Mask& mask, const Pass& pass, const std::vector<Index>& positions,
                          const Surroundings& around) const;

  std::optional<RelativeSegments> segments_;
};

// X attends to the states of another sequence, whose lengths are key_lengths (SPEC 1.5).
class CrossAttention : public MultiHeadAttention {
 public:
  CrossAttention(const Scope& scope, const Scope& stack, const AttentionOptions& options)
      : MultiHeadAttention(scope, stack, options, Source::other) {}

  // Keys and values of the other sequences, which steps of one pass may use again.
  struct Memory {
    Variable key, value;         // [sequences, kv_heads, memory_time, width]
    std::vector<Index> lengths;  // lengths of the sequences; empty: all are full
    std::vector<Index> rows{};   // the sequence that each row of x attends to; empty: row b to sequence b

    Mask mask() const;
  };
  Memory remember(const Variable& states, const std::vector<Index>& lengths, const Pass& pass = {}) const;

  // x [batch, time, width] -> the same, plus a residual where one is given. Not recorded where memory has rows.
  Variable operator()(const Variable& x, const Memory& memory, const Variable& residual = {},
                      const Pass& pass = {}) const;
  // [batch, heads, time, memory_time]. Precondition: has_weights().
  PairWeights weights(const Variable& x, const Memory& memory) const;
  bool has_weights() const { return variant().support().weights; }
};

}  // namespace heddle::nn
