// The interfaces through which models are used. Code asks for a role (Model::as, require), never for a class of models;
// an architecture has a role by deriving from it.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/attention/attention.hpp"
#include "libcore/data/graphs.hpp"
#include "libcore/heads/token_head.hpp"
#include "libcore/models/sequences.hpp"
#include "libcore/nn/multi_head_attention.hpp"
#include "libcore/ops/pass.hpp"

namespace heddle::models {

// Common base of all roles of models that read tokens.
class TokenModel {
 public:
  static constexpr std::string_view ability = "reads tokens";

  virtual ~TokenModel() = default;
  virtual Index vocab_size() const = 0;
  // The maximum number of tokens in a sequence; none if unlimited.
  virtual std::optional<Index> max_positions() const = 0;
  // The same as a number, larger than any sequence if unlimited.
  Index position_limit() const { return max_positions().value_or(std::numeric_limits<Index>::max() / 4); }
  // Tokens in a window of training and, by default, of evaluation.
  virtual Index training_length() const = 0;
  // Floating-point operations to train on one token of a sequence of `time`, of which a fraction is predicted: 6 for
  // each number of a matrix that multiplies it, plus those of attention (SPEC 7.8).
  virtual double training_flops_per_token(Index time, double predicted) const = 0;
};

// Computes a vector for each node of graphs, and one for each graph: the input of heads. No result depends on the order
// in which nodes and edges are listed, nor on the other graphs of a batch, but for rounding.
class NodeVectors {
 public:
  static constexpr std::string_view ability = "gives a vector for each node of a graph";

  // Called with the input of the first layer, then with the output of each layer, [nodes, width] each.
  using Observer = std::function<void(const Variable& x)>;

  virtual ~NodeVectors() = default;
  virtual Index layers() const = 0;
  virtual Index width() const = 0;
  // The columns that graphs must have.
  virtual const data::GraphSchema& features() const = 0;
  // The width of vectors of edges' features; 0: edges have none, or the model does not read them.
  virtual Index edge_width() const = 0;
  // [edges, edge_width], empty where that is 0. Precondition as for node_vectors().
  virtual Variable edge_vectors(const data::GraphBatch& graphs) const = 0;
  // [nodes, width]. Precondition: the graphs have these columns (data::check_graph).
  virtual Variable node_vectors(const data::GraphBatch& graphs, const Pass& pass = {},
                                const Observer& observe = {}) const = 0;
  // Vectors of whole graphs, from those of their nodes: [nodes, width] -> [graphs, width].
  virtual Variable graph_vectors(const Variable& nodes, const data::GraphBatch& graphs) const = 0;
  // Floating-point operations to train on one node, without those of edges and of pairs: 6 for each number of a matrix
  // that multiplies its vector.
  virtual double training_flops_per_node() const = 0;
};

// Predicts of masked nodes (data::GraphBatch::masked) which kinds their categories are, from all that is not masked.
class MaskedNodePredictor : public virtual NodeVectors {
 public:
  static constexpr std::string_view ability = "predicts masked nodes of graphs";

  // Whether there is the head for it, without which the model reads no masked nodes either.
  virtual bool has_masked_head() const = 0;
  // Logits of some rows of node_vectors(), for a column of the nodes' categories: [rows, width] -> [rows, kinds + 1],
  // Real, 0 for unknown kinds. Throws UsageError without has_masked_head().
  virtual Variable kind_logits(const Variable& nodes, std::size_t column) const = 0;
};

// The attention weights of one layer along the edges of graphs.
struct EdgeAttentionMap {
  std::string name;                       // "gat/0/attention"
  std::shared_ptr<const EdgeRows> edges;  // edges that the layer attends along, which may differ from the graphs'
  Tensor weights;                         // [edges, heads]; of the edges into each node they sum to 1
};

// Says what each node of a graph attends to.
class EdgeAttentionMaps : public virtual NodeVectors {
 public:
  static constexpr std::string_view ability = "attends along the edges of graphs";

  // The maps of all layers, in order.
  virtual std::vector<EdgeAttentionMap> edge_attention_maps(const data::GraphBatch& graphs) const = 0;
};

// Turns gradients into steps (update_rule.hpp).
class UpdateRule {
 public:
  static constexpr std::string_view ability = "turns gradients into steps";

  virtual ~UpdateRule() = default;

  // State of a rule between steps, [coordinates, ...] each; every step returns new tensors of the same shapes.
  using State = std::vector<Variable>;
  virtual State start(Index coordinates) const = 0;
  // Information exchanged among the coordinates of a tensor in a step when they are processed in chunks.
  class Gathered {
   public:
    virtual ~Gathered() = default;
    // Adds coordinates in their order: a multiple of 64 each time, but for the last time.
    virtual void add(const Tensor& gradients) = 0;
  };
  // Nothing yet; null for rules whose coordinates do not see one another.
  virtual std::unique_ptr<Gathered> gather() const { return nullptr; }
  struct Seen {
    const Tensor& gradients;             // [coordinates]
    const Tensor& losses;                // [coordinates]: before the step, of the function that each coordinate is of
    Index step;                          // from 0
    const std::vector<Index>& parts;     // how many coordinates each tensor has, in order
    const Gathered* gathered = nullptr;  // over the whole tensor of these coordinates; null: they are all of it
  };
  // Returns the update of each coordinate, [coordinates], and sets `state` for the next step. Nothing flows back into
  // gradients and losses.
  virtual Variable step(const Seen& seen, State& state) const = 0;
};

// Computes a vector for each token of a text: hidden states, the input of heads, embeddings and senses.
class ContextualVectors : public virtual TokenModel {
 public:
  static constexpr std::string_view ability = "gives a vector for each token of a text";

  // Called with the input of the first layer, then with the output of each layer, [batch, time, width] each.
  using Observer = std::function<void(const Variable& x)>;

  virtual Index layers() const = 0;
  virtual Index width() const = 0;
  // Whether a token's vector also depends on the tokens after it.
  virtual bool is_bidirectional() const = 0;

  // [batch, time, width]; values at padding positions are undefined. Throws DataError for ids and segments outside
  // their tables and for sequences longer than max_positions().
  virtual Variable hidden(const Sequences& sequences, const Pass& pass = {}, const Observer& observe = {}) const = 0;
  // At one position of each sequence, which may take less work: [batch, 1, width].
  virtual Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences,
                             const Pass& pass = {}) const;
  // The vector of a whole text, from the hidden state of its first token: [batch, 1, width] -> [batch, width].
  virtual Variable summary(const Variable& first) const;
  // Whether summary() is what the model is made for: it has weights of its own, or sums up all tokens.
  virtual bool has_summary() const { return false; }

  // The vectors of single tokens, before positions: [vocab, width], of any dtype.
  virtual const Tensor& token_embeddings() const = 0;
};

// Predicts each next token from the tokens up to it: the hidden state at t scores token t + 1.
class TokenLoss : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "predicts next tokens";
  virtual const heads::TokenHead& next_token_head() const = 0;
  // The states that the head reads: those of hidden(), unless these see both sides of a token. Throws as hidden() does.
  virtual Variable next_hidden(const Sequences& sequences, const Pass& pass = {}) const {
    return hidden(sequences, pass);
  }

  // Whether sequences may continue others (Sequences::earlier).
  virtual bool remembers() const { return false; }
  // How many positions of earlier windows each layer may attend to in training: 0 for none. A text that is read as a
  // whole, or step by step, is read as if its windows were single tokens: each attends to so many tokens before it.
  virtual Index memory() const { return 0; }
};

// hidden() of windows that continue those whose states are given, and the last `most` states of both together, for
// windows that continue these; with the same EarlierStates::window.  Throws ShapeError.
struct Continued {
  Variable hidden;
  EarlierStates states;
};
Continued hidden_after(const ContextualVectors& model, const TokenIds& ids, const EarlierStates& earlier, Index most,
                       const Pass& pass = {});

// Predicts each token twice, from the tokens before it and from those after it: the states of the two directions at t
// score tokens t + 1 and t - 1.
class BidirectionalLoss : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "predicts each token from those before it and from those after it";

  struct Directions {
    Variable forward, backward;  // [batch, time, width of a direction] each; values at padding positions are undefined
  };
  virtual Directions directions(const Sequences& sequences, const Pass& pass = {}) const = 0;
  virtual const heads::TokenHead& direction_head() const = 0;
};

// Predicts masked tokens from all others: the state at t scores token t.
class MaskedPredictor : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "predicts masked tokens";
  virtual const heads::TokenHead& masked_token_head() const = 0;
  // The states that the head reads, which may be narrower than those of hidden(), which they are by default.
  virtual Variable masked_hidden(const Sequences& sequences, const Pass& pass = {}) const {
    return hidden(sequences, pass);
  }

  virtual bool has_next_sentence() const { return false; }
  // Logits of "the second segment follows the first" and of "it does not": hidden [batch, time, width] -> [batch, 2].
  // Throws UsageError without has_next_sentence().
  virtual Variable next_sentence(const Variable& hidden) const;
};

// Predicts next tokens and masked ones by one stack and one head. Vectors for tokens see both sides of them.
class MixedPredictor : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "predicts next tokens and fills in masked ones";
  // The model in either role.
  virtual const TokenLoss& from_left() const = 0;
  virtual const MaskedPredictor& from_both_sides() const = 0;
};

// Says of each token of a text whether it replaced another one: hidden() reads texts in which a generator, a smaller
// model within this one that predicts masked tokens, proposed some tokens.
class ReplacementDetector : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "detects replaced tokens";
  virtual const MaskedPredictor& generator() const = 0;
  // Logits of "another token stood here": rows of hidden(), [rows, width] -> [rows, 1], Real.
  virtual Variable replaced(const Variable& hidden) const = 0;
};

// Predicts tokens in any order, each from those before it in that order: the query state at t scores token t. Vectors
// for tokens are those of their contents where all see all.
class PermutationPredictor : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "predicts tokens in any order";

  // The rank of each token in the order, [batch][time]; tokens of one rank do not predict each other, but their
  // contents see each other.
  using Ranks = std::vector<std::vector<Index>>;
  // [batch, time, width] each; values at padding positions are undefined.
  struct Streams {
    Variable content;  // states that see tokens of equal or lower rank
    Variable query;    // states that see tokens of lower rank only, not their own
  };
  // Throws as hidden() does, and ShapeError for ranks that do not fit.
  virtual Streams streams(const Sequences& sequences, const Ranks& ranks, const Pass& pass = {}) const = 0;
  virtual const heads::TokenHead& permuted_token_head() const = 0;
};

// Reads a source text and predicts a target text, each token from the source and the target tokens up to it: the hidden
// state at t scores target token t + 1. vocab_size() and max_positions() are those of targets. Vectors for tokens,
// where such a model gives them, are those of its source.
class SequenceToSequence : public virtual TokenModel {
 public:
  static constexpr std::string_view ability = "predicts a target text for a source text";

  virtual Index source_vocab_size() const = 0;
  // The maximum number of tokens in a source; none if unlimited.
  virtual std::optional<Index> max_source_positions() const = 0;
  // The token that targets begin with; none: the one that ends them.
  virtual std::optional<TokenId> start_token() const = 0;

  // Hidden states of targets with their `sources`: [batch, time, width]; values at padding positions are undefined.
  // Throws DataError for ids outside their tables and for sequences longer than the maximum, ShapeError without
  // sources.
  virtual Variable target_hidden(const Sequences& targets, const Pass& pass = {}) const = 0;
  virtual const heads::TokenHead& target_head() const = 0;
};

// Starts from counts of what the texts of each class have, as naive Bayes does, instead of random weights.
class CountedStart : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "starts from counts";
  // Sets the weights so that element c of a hidden state says how much the text speaks for class c: that of position 0
  // for the whole text, that of another position for its token. Returns the scale of the logits relative to the
  // log-likelihood, on average over the examples; none, and nothing is done, where the width is not the number of
  // classes. Precondition: labels are from 0 to classes - 1, and there are examples.
  virtual std::optional<double> start_from_counts(std::span<const CountedExample> examples, Index classes) = 0;
};

// The state of a generator for a batch of sequences while it continues them.
class GeneratorState {
 public:
  virtual ~GeneratorState() = default;
  Index batch() const { return static_cast<Index>(seen_.size()); }
  // Number of tokens that each row has seen.
  const std::vector<Index>& seen() const { return seen_; }
  // Replaces row i by the former row rows[i].
  void reorder(const std::vector<Index>& rows);

  // If GenerationStart requested them: attention of each row's last added token to the tokens of its source, [batch,
  // source_time], rows sum to 1; else empty. Valid for the last step, until rows are reordered.
  const Tensor& source_weights() const { return source_weights_; }

  // For Generator::step(): throws ShapeError for a step that does not fit the batch; counts what it adds.
  void check_step(const TokenIds& ids, const std::vector<Index>& added) const;
  void advance(const std::vector<Index>& added);
  void set_source_weights(Tensor weights) { source_weights_ = std::move(weights); }

 protected:
  explicit GeneratorState(Index batch) : seen_(static_cast<std::size_t>(batch), 0) {}

 private:
  virtual void reorder_layers(const std::vector<Index>& rows) = 0;
  std::vector<Index> seen_;
  Tensor source_weights_;
};

// The states of each row's last added token: x [batch, time, width] -> [batch, width], Real.
Tensor last_added(const Tensor& x, const std::vector<Index>& added);

struct GenerationStart {
  Index batch;
  Index capacity;                      // tokens of a sequence, at most
  DType cache = DType::real;           // dtype of keys and values: Real or bfloat16
  const Sequences* sources = nullptr;  // source of each row, for models that read a source text
  bool source_weights = false;         // keep the attention to them; only of models that attend to their source
};

// Continues token sequences step by step (SPEC 7.1 and 7.2).
class Generator : public virtual TokenModel {
 public:
  static constexpr std::string_view ability = "generates text";

  // Whether steps can keep source_weights(): those of the last layer that attends to the source, as the mean of its
  // heads.
  virtual bool attends_to_source() const { return false; }
  // Whether states have keys and values of every token, which GenerationStart::cache stores.
  virtual bool caches_keys() const { return true; }
  // An empty state. Throws DataError for a capacity beyond max_positions().
  virtual std::unique_ptr<GeneratorState> start(const GenerationStart& start) const = 0;
  // Reads more tokens: row b the first added[b] >= 1 ids of its row of ids [batch, time]; the others are padding.
  // Returns the logits that follow each row's last token: [batch, vocab]. A row's bits depend on whether time is 1, but
  // not on the other rows, as far as RowKernels allow.
  virtual Tensor step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state) const = 0;
};

// The attention weights of one layer, which the fast path never forms.
struct AttentionMap {
  enum class Text { own, source };  // the sequences, or their source

  std::string name;    // "decoder/3/attention"
  Text queries, keys;  // texts whose tokens are queries and keys
  PairWeights pairs;   // rows of weights sum to 1
};
class AttentionMaps : public virtual TokenModel {
 public:
  static constexpr std::string_view ability = "mixes tokens by attention weights";
  // Layer by layer; of a sequence-to-sequence model, those of targets with their sources. No layer's weights are kept
  // after the call with them.
  using Take = std::function<void(const AttentionMap& map)>;
  virtual void attention_maps(const Sequences& sequences, const Take& take) const = 0;

  std::vector<AttentionMap> all_attention_maps(const Sequences& sequences) const;
};

// Attention and positions of a stack, for showing what these compute in isolation. All of it belongs to the model.
struct LayerAttention {
  std::string name;                      // "decoder/3/attention"
  bool crosses;                          // its keys are those of another sequence
  const nn::MultiHeadAttention* module;  // the variant and, of self-attention, what positions do in it
};
struct StackView {
  std::string name;               // "decoder"
  std::string attention, scheme;  // the variant and the scheme of positions, as configurations name them
  const Positions* positions;
  std::optional<Index> context;  // number of positions; none: unlimited
  Index width;
  bool causal;
  std::vector<LayerAttention> layers{};  // from the first; cross-attention follows the self-attention of its layer
};
class AttentionStacks : public virtual TokenModel {
 public:
  static constexpr std::string_view ability = "is a stack of attention layers";
  // At least one.
  virtual std::vector<StackView> stacks() const = 0;
};

class Model;

namespace detail {
[[noreturn]] void refuse_role(const Model& model, std::string_view ability, std::string_view user,
                              std::string_view path);
}  // namespace detail

}  // namespace heddle::models
