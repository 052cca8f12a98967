// The shape of a model, as files and command lines state it.
//
// An architecture's configuration is a struct of its own with a visit(), put together from the parts below. ModelConfig
// holds one of them without knowing which, so that files and tools serve every architecture of architectures.def.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/kind.hpp"
#include "libcore/data/graph_schema.hpp"
#include "libcore/models/sequences.hpp"
#include "libcore/nn/block.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle::models {

// The sizes of the tokenizers' vocabularies; source is that of the sources of sequence-to-sequence models.
struct Vocabularies {
  Index source, target;
  bool are_one = true;  // an id is the same piece on both sides
};

inline constexpr double embedding_stddev = 0.02;  // initial stddev of token embeddings

// Settings of every architecture.
struct CommonConfig {
  double dropout = 0;

  // Sets what a model needs to play a role (ReplacementDetector::ability, …) where the configuration leaves it open.
  virtual void prepare_for(std::string_view) {}
  // Replaces values that stand for a default by the default, so that later defaults do not change what a file means.
  virtual void spell_out() {}
  // Throws UsageError for inconsistent fields.
  virtual void validate() const {}
  // Throws UsageError where a size that a model must have is left to the data.
  virtual void check_sizes() const {}
  // For examples whose tokens have no order: the parts of graphs.
  virtual void fit_unordered() {}
  // Sets those that depend on the examples from which a new model learns a task; 0 classes: it has none.
  virtual void fit_examples(std::span<const CountedExample>, [[maybe_unused]] Index classes) {}

  CommonConfig() = default;
  CommonConfig(const CommonConfig&) = default;
  CommonConfig& operator=(const CommonConfig&) = default;
  virtual ~CommonConfig() = default;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("dropout", "dropout rate of the embeddings and of the output of each sublayer").range(0, 0.99).takes("P"),
        self.dropout);
  }
};

// Settings of architectures that read tokens.
struct TokenConfig : CommonConfig {
  Index vocab_size = 0;       // 0: the tokenizer's
  Index sequence_length = 0;  // tokens of a training window; 0: the context, or 64 where there is none

  // The number of positions that the model can hold; none if unlimited.
  virtual std::optional<Index> max_positions() const { return std::nullopt; }
  // The same as a number, larger than any sequence if unlimited.
  Index position_limit() const { return max_positions().value_or(std::numeric_limits<Index>::max() / 4); }
  // The number of tokens of a text that a task reads at once. Where positions set no limit memory and time do: of the
  // states of all tokens, and of attention between all pairs.
  Index longest_text() const { return reads_all() ? position_limit() : max_positions().value_or(4096); }
  // Whether there is no such number: tokens do not see one another.
  virtual bool reads_all() const { return false; }
  // Whether segments distinguish the second of two texts from the first; this needs at least two kinds.
  virtual bool has_segments() const { return false; }
  // Sets the sizes that are not given. Throws UsageError for vocabularies that the architecture cannot have.
  virtual void fit_vocabularies(const Vocabularies& vocabularies);
  void spell_out() override { sequence_length = training_length(); }
  void check_sizes() const override;
  Index training_length() const { return sequence_length > 0 ? sequence_length : max_positions().value_or(64); }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("vocab_size", "size of the vocabulary; auto means that of the tokenizer")
                .range(1, 1000000000)
                .word(0, "auto")
                .takes("N"),
            self.vocab_size);
    visitor(Field("sequence_length", "tokens in a training window; auto means the context, or 64 without a context")
                .range(1, 10000000)
                .word(0, "auto")
                .takes("N"),
            self.sequence_length);
    CommonConfig::visit(self, visitor);
  }
};

// Settings of architectures that read graphs.
struct GraphConfig : CommonConfig {
  data::GraphSchema features{};  // no column: those of the data

  // Sets the features where they are not given. Throws UsageError for graphs that the architecture cannot read.
  virtual void fit_graphs(const data::GraphSchema& schema);

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("features", "columns of the nodes and edges that it reads; auto means those of the data").takes("TEXT"),
        self.features);
    CommonConfig::visit(self, visitor);
  }
};

}  // namespace heddle::models

namespace heddle {

// The architectures, in the order of architectures.def.
template <>
const KindList<models::CommonConfig>& kinds();

}  // namespace heddle

namespace heddle::models {

// A stack of blocks.
struct StackConfig {
  Index layers = 4;
  Index distinct_layers = 0;  // 0: layers
  Index width = 128;
  Index heads = 4;
  Index kv_heads = 0;    // 0: heads
  Index head_width = 0;  // 0: width / heads
  Index ffn_width = 0;   // 0: see inner_width()
  std::string activation = "gelu-tanh";
  bool gated = false;
  std::string norm = "layer";
  std::string block = "pre";
  double norm_epsilon = 1e-5;
  std::string positions = "learned";
  Index context = 0;  // 0: the length of a training window if positions need a limit, else unlimited
  std::string attention = "dot";
  Index window = 0;
  bool bias = true;
  bool attention_bias = true;  // attention projections have a bias
  std::string projections = "standard";
  bool attention_output = true;
  bool head_norm = false;
  bool head_gates = false;
  bool input_mix = false;
  bool zero_outputs = false;
  double layer_dropout = 0;

  HeadShape head_shape() const;
  Index block_count() const { return distinct_layers > 0 ? distinct_layers : layers; }
  // How many layers use each block.
  double uses_of_a_block() const {
    return static_cast<double>(layers) / static_cast<double>(std::max<Index>(1, block_count()));
  }
  // Default of ffn_width: 4 width (Vaswani et al. 2017). Gated layers, which have three matrices instead of two, get as
  // many parameters with two thirds of that (Shazeer 2020), rounded up to a multiple of 32.
  Index inner_width() const { return ffn_width > 0 ? ffn_width : usual_inner_width(); }
  Index usual_inner_width() const;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

// Embeddings besides tokens and positions.
struct EmbeddingConfig {
  Index segments = 0;
  bool embedding_norm = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("segments", "number of kinds of segments, each with an embedding; BERT has 2").range(0, 1000).takes("N"),
        self.segments);
    visitor(Field("embedding_norm", "norm between the embeddings and the first block, as in BERT"),
            self.embedding_norm);
  }
};

// Embeddings that are added to the values of attention (nn::ValueEmbeddings), of decoders and encoders.
struct ValueEmbeddingConfig {
  Index value_embeddings = 0;

  // Throws UsageError for more than a stack of so many layers has room for.
  void check_layers(Index layers) const;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("value_embeddings",
                  "tables of token vectors that are added to the values of attention, with learned factors: N tables "
                  "for the first N layers, which the last N share")
                .range(1, 5000)
                .word(0, "none")
                .takes("N"),
            self.value_embeddings);
  }
};

// A transformer of one stack: common, stack and embedding together, and whether the output shares the embedding.
struct TransformerConfig : TokenConfig, StackConfig, EmbeddingConfig {
  bool tie_embeddings = true;

  std::optional<Index> max_positions() const override;
  bool has_segments() const override { return segments > 1; }
  void spell_out() override;
  // Floating-point operations of attention to train on one token of a sequence of `time`, as done: 12 width for each
  // key that a query may attend, in each layer (SPEC 7.8).
  double attention_flops_per_token(Index time, bool causal) const;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    StackConfig::visit(self, visitor);
    TokenConfig::visit(self, visitor);
    EmbeddingConfig::visit(self, visitor);
    visitor(Field("tie_embeddings", "output matrix shared with the token embeddings"), self.tie_embeddings);
  }
};

// The result of make(); its UsageErrors begin with the field that they are about, "`positions`", and perhaps its value.
template <class Make>
auto naming_errors(const std::string& field, const Make& make) {
  try {
    return make();
  } catch (const UsageError& error) {
    throw UsageError(field + ": " + error.what());
  }
}

// Settings of sequence-to-sequence architectures; vocab_size counts target tokens.
struct SourceConfig {
  Index source_vocab_size = 0;  // 0: vocab_size
  Index encoder_layers = 0;     // 0: layers
  bool share_embeddings = true;
  Index start_token = -1;  // -1: the token that ends texts

  Index source_vocabulary(Index vocab_size) const { return source_vocab_size > 0 ? source_vocab_size : vocab_size; }
  // Throws UsageError for embeddings that cannot be shared and for a start token outside the vocabulary.
  void check_vocabularies(Index vocab_size) const;
  // Sets the source's size where it is not given. Throws UsageError as TokenConfig::fit_vocabularies().
  void fit_both(const Vocabularies& vocabularies, Index vocab_size);

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("source_vocab_size", "size of the source vocabulary; auto means that of the source's tokenizer")
                .range(1, 1000000000)
                .word(0, "auto")
                .takes("N"),
            self.source_vocab_size);
    visitor(Field("encoder_layers", "number of blocks of the encoder; auto means layers")
                .range(1, 10000)
                .word(0, "auto")
                .takes("N"),
            self.encoder_layers);
    visitor(Field("share_embeddings", "token embeddings shared by source and target"), self.share_embeddings);
    visitor(Field("start_token", "id of the token that targets begin with; auto means the token that ends texts")
                .range(0, 1000000000)
                .word(-1, "auto")
                .takes("ID"),
            self.start_token);
  }
};

// Throws UsageError for inconsistent fields of a stack.
void check_transformer(const TransformerConfig& config, const AttentionSupport& needed);
// Throws UsageError for a stack that cannot have a memory of so many positions of earlier sequences.
void check_memory(const TransformerConfig& config, Index memory);

// The configuration of some architecture of architectures.def.
class ModelConfig : public KindOf<CommonConfig> {
 public:
  // The defaults of the first architecture of the list.
  ModelConfig() = default;
  ModelConfig(const KindOf<CommonConfig>& kind) : KindOf(kind) {}
  template <class Own>
  requires std::derived_from<Own, CommonConfig> ModelConfig(const Own& own) : KindOf(own) {}
  // The defaults of the architecture of that name. Throws UsageError that lists them.
  static ModelConfig of(const std::string& arch) { return kinds<CommonConfig>().find(arch).defaults; }

  std::string arch() const { return name(); }
  // Its input. Throws UsageError for a model that reads something else.
  const TokenConfig& tokens() const;
  TokenConfig& tokens();
  const GraphConfig& graphs() const;
  GraphConfig& graphs();
  bool reads_tokens() const { return as<TokenConfig>() != nullptr; }

  // `arch`, which makes the rest what it says, then the fields of the architecture.
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visit_named(arch_field(), self, visitor);
  }

 private:
  // The field that names the architecture.
  static Field arch_field() {
    return Field("arch", "architecture").one_of(kinds<CommonConfig>().names()).takes("NAME").essential();
  }
};

}  // namespace heddle::models

template <class Self, class Visitor>
void heddle::models::StackConfig::visit(Self& self, Visitor& visitor) {
  visitor(Field("layers", "number of blocks").range(0, 10000).takes("N").essential(), self.layers);
  visitor(Field("distinct_layers",
                "number of blocks with weights of their own, which all layers use cyclically; auto means layers, 1 "
                "ties all layers as in ALBERT")
              .range(1, 10000)
              .word(0, "auto")
              .takes("N"),
          self.distinct_layers);
  visitor(Field("width", "width of the residual stream").range(1, 1000000).takes("N").essential(), self.width);
  visitor(Field("heads", "number of attention heads; must divide the width").range(1, 10000).takes("N").essential(),
          self.heads);
  visitor(Field("kv_heads", "number of key and value heads, each shared by a group of heads; auto means one per head")
              .range(1, 10000)
              .word(0, "auto")
              .takes("N"),
          self.kv_heads);
  visitor(Field("head_width", "width of a head; auto means width / heads").range(1, 100000).word(0, "auto").takes("N"),
          self.head_width);
  visitor(Field("ffn_width",
                "inner width of the feed-forward layers; auto means 4 width, or with `gated` 8/3 width, "
                "rounded up to a multiple of 32")
              .range(1, 10000000)
              .word(0, "auto")
              .takes("N"),
          self.ffn_width);
  visitor(Field("activation", "non-linearity of the feed-forward layers").one_of(names_of<Activation>()).takes("NAME"),
          self.activation);
  visitor(Field("gated", "gated feed-forward layers: SwiGLU with silu, GEGLU with gelu, GLU with sigmoid"), self.gated);
  visitor(Field("norm", "layer norm or RMS norm").one_of(names_of<NormKind>()).takes("NAME"), self.norm);
  visitor(Field("block", "norm before each sublayer, after its residual addition, or one norm for parallel sublayers")
              .one_of(names_of<BlockOrder>())
              .formerly("norm_position")
              .takes("ORDER"),
          self.block);
  visitor(Field("norm_epsilon", "added to the variance").above(0, 1).takes("X"), self.norm_epsilon);
  visitor(Field("positions", "position scheme").takes("NAME[:KEY=VALUE,...]").named_in(position_schemes),
          self.positions);
  visitor(Field("context",
                "number of positions that the model can hold; auto means unlimited or, for learned positions, the "
                "length of a training window")
              .range(1, 10000000)
              .word(0, "auto")
              .takes("N")
              .essential(),
          self.context);
  visitor(Field("attention", "attention variant").takes("NAME[:KEY=VALUE,...]").named_in(attention_variants),
          self.attention);
  visitor(Field("window", "attend to at most N positions before, and in encoders after, each")
              .range(1, 10000000)
              .word(0, "all")
              .takes("N"),
          self.window);
  visitor(Field("bias", "biases of linear layers and layer norms"), self.bias);
  visitor(Field("attention_bias", "biases of the projections of attention, with `bias`"), self.attention_bias);
  visitor(
      Field("projections",
            "how heads get queries, keys and values: matrices of the whole width, of each head's own part of it, or "
            "none")
          .one_of(names_of<Projections>())
          .takes("KIND"),
      self.projections);
  visitor(Field("attention_output", "output projection of attention; without it, the heads' results side by side"),
          self.attention_output);
  visitor(Field("head_norm", "RMS norm of the queries and keys of each head (QK norm)"), self.head_norm);
  visitor(Field("head_gates", "a gate of each head's result, which the input sets"), self.head_gates);
  visitor(
      Field("input_mix", "each layer but the first reads a x + b e, the states and the embeddings, a and b learned"),
      self.input_mix);
  visitor(Field("zero_outputs", "matrices that write to the residual stream begin as zeros").initial(),
          self.zero_outputs);
  visitor(
      Field("layer_dropout",
            "stochastic depth: rate at which the last block's sublayers are left out for a sample in training; lower "
            "blocks less often, in proportion to their depth")
          .range(0, 0.99)
          .takes("P"),
      self.layer_dropout);
}
