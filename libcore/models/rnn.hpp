// Recurrent sequence-to-sequence models: an encoder reads the source, and a decoder, which sees a vector of the whole
// source or attends to the states of its tokens, predicts each next token of the target (SPEC 5).
#pragma once

#include "libcore/heads/language_model.hpp"
#include "libcore/models/model.hpp"
#include "libcore/models/rnn_decoder.hpp"
#include "libcore/nn/embedding.hpp"

namespace heddle::models {

// Parameters: embedding/token/weight, or encoder/embedding/token/weight and decoder/embedding/token/weight where they
// are separate; encoder/… of the source encoder; decoder/… of RnnDecoder; head/weight [vocab, output width] where
// embeddings are not tied. Embeddings start normal.
class Rnn : public ModelOfTokens, public Generator, public SequenceToSequence {
 public:
  Rnn(const RnnConfig& config, ParameterSource weights);

  Index source_vocab_size() const override { return config_.source_vocabulary(config_.vocab_size); }
  std::optional<Index> max_source_positions() const override { return std::nullopt; }
  std::optional<TokenId> start_token() const override;
  Variable target_hidden(const Sequences& targets, const Pass& pass = {}) const override;
  const heads::TokenHead& target_head() const override { return head_; }

  bool caches_keys() const override { return false; }
  bool attends_to_source() const override { return config_.has_attention(); }
  std::unique_ptr<GeneratorState> start(const GenerationStart& start) const override;
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state) const override;

  bool is_beside_vectors(std::string_view parameter) const override {
    return is_of_head(parameter) || parameter.starts_with("decoder/");
  }

  double training_flops_per_token(Index time, double predicted) const override;

 protected:
  RnnDecoder::Result decode(const Sequences& targets, const Pass& pass, RnnDecoder::Keep keep) const;
  SourceEncoder::Result encode(const Sequences& sources, const Pass& pass,
                               const ContextualVectors::Observer& observe = {}) const;
  const RnnConfig& rnn_config() const { return config_; }
  const nn::Embedding& source_tokens() const { return source_tokens_; }

 private:
  RnnConfig config_;
  std::optional<nn::Embedding> shared_;
  nn::Embedding source_tokens_, target_tokens_;
  std::unique_ptr<const SourceEncoder> encoder_;
  RnnDecoder decoder_;
  heads::LanguageModel head_;
  std::uint64_t source_dropout_, target_dropout_, output_dropout_;
};

// One whose encoder gives annotations: these are the vectors of a source's tokens.
class AnnotatingRnn : public Rnn, public ContextualVectors {
 public:
  using Rnn::Rnn;
  Index layers() const override { return rnn_config().encoder_depth(); }
  Index width() const override { return rnn_config().annotation_width(); }
  bool is_bidirectional() const override { return rnn_config().bidirectional || rnn_config().reverse_source; }
  Variable hidden(const Sequences& sources, const Pass& pass = {}, const Observer& observe = {}) const override;
  const Tensor& token_embeddings() const override { return source_tokens().weight().value(); }
};

// One that attends to its source.
class AttentiveRnn : public AnnotatingRnn, public AttentionMaps {
 public:
  using AnnotatingRnn::AnnotatingRnn;
  void attention_maps(const Sequences& targets, const Take& take) const override;
};

}  // namespace heddle::models
