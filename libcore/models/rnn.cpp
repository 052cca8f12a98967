#include "libcore/models/rnn.hpp"

#include <cmath>

#include "libcore/models/architecture.hpp"
#include "libcore/models/recurrent_state.hpp"
#include "libcore/tensor/matmul.hpp"

namespace heddle::models {

namespace {

std::optional<nn::Embedding> shared_embedding(const Scope& scope, const RnnConfig& config) {
  if (!config.share_embeddings) return std::nullopt;
  return nn::Embedding(scope, config.vocab_size, config.embedding(), config.embedding_stddev(ops::cell(config.cell)));
}

nn::Embedding embedding_of(const Scope& scope, Index vocab, const RnnConfig& config,
                           const std::optional<nn::Embedding>& shared) {
  return shared ? *shared
                : nn::Embedding(scope, vocab, config.embedding(), config.embedding_stddev(ops::cell(config.cell)));
}

heads::LanguageModel head_for(const Scope& scope, const RnnConfig& config, const nn::Embedding& tokens) {
  if (config.tie_embeddings) return heads::LanguageModel(scope, tokens);
  return {scope, config.vocab_size, config.output_width(), nn::stddev_by_inputs(config.output_width())};
}

Variable rows_of(const Variable& x, const std::vector<Index>& rows) {
  return x.empty() ? x : picked_rows({x}, rows).front();
}

class RnnState : public GeneratorState {
 public:
  RnnState(const GenerationStart& start, RnnDecoder::State first, std::optional<nn::SourceAttention::Memory> source)
      : GeneratorState(start.batch),
        decoder(std::move(first)),
        memory(std::move(source)),
        keeps_weights(start.source_weights) {
    for (Index row = 0; memory && row < start.batch; ++row) memory->rows.push_back(row);
  }
  RnnDecoder::State decoder;
  std::optional<nn::SourceAttention::Memory> memory;
  const bool keeps_weights;

  // Takes over the rows of `next` that add a token at time t.
  void replace(const RnnDecoder::State& next, const std::vector<Index>& added, Index t) {
    for (std::size_t i = 0; i < decoder.layers.size(); ++i) replace_rows(decoder.layers[i], next.layers[i], added, t);
    if (decoder.fed.empty()) return;
    nn::Recurrent::State fed{decoder.fed};
    replace_rows(fed, {next.fed}, added, t);
    decoder.fed = fed.front();
  }

 private:
  // Annotations of sources and their keys stay where they are.
  void reorder_layers(const std::vector<Index>& rows) override {
    for (nn::Recurrent::State& layer : decoder.layers) layer = picked_rows(layer, rows);
    decoder.context = rows_of(decoder.context, rows);
    decoder.fed = rows_of(decoder.fed, rows);
    if (!memory) return;
    std::vector<Index> sources;
    for (const Index row : rows) sources.push_back(memory->rows.at(static_cast<std::size_t>(row)));
    memory->rows = std::move(sources);
  }
};

// Vectors of 256 numbers, with the vocabularies of the later models.
RnnConfig rctm_2013() {
  RnnConfig config;
  config.source_encoder = "convolution";
  config.cell = "tanh";
  config.bidirectional = false;
  config.source_attention = "none";
  config.context_vector = "every-step";
  config.bias = false;
  config.vocab_size = 30000;
  config.share_embeddings = false;
  config.tie_embeddings = false;
  return config;
}

// 4 layers of 1000 cells, 160,000 source and 80,000 target words.
RnnConfig seq2seq_2014() {
  RnnConfig config;
  config.layers = 4;
  config.width = 1000;
  config.cell = "lstm";
  config.bidirectional = false;
  config.reverse_source = true;
  config.source_attention = "none";
  config.bias = false;
  config.vocab_size = 80000;
  config.source_vocab_size = 160000;
  config.share_embeddings = false;
  config.tie_embeddings = false;
  return config;
}

// RNNsearch, with 30,000 words on each side. Biases aside, which the paper leaves out.
RnnConfig rnnsearch_2015() {
  RnnConfig config;
  config.cell = "cho";
  config.width = 1000;
  config.encoder_width = 2000;
  config.embedding_width = 620;
  config.readout_width = 500;
  config.bias = false;
  config.vocab_size = 30000;
  config.share_embeddings = false;
  config.tie_embeddings = false;
  return config;
}

}  // namespace

Rnn::Rnn(const RnnConfig& config, ParameterSource weights)
    : ModelOfTokens(config, std::move(weights)),
      config_(config),
      shared_(shared_embedding(scope("embedding/token"), config)),
      source_tokens_(embedding_of(scope("encoder/embedding/token"), source_vocab_size(), config, shared_)),
      target_tokens_(embedding_of(scope("decoder/embedding/token"), config.vocab_size, config, shared_)),
      encoder_(make_source_encoder(scope("encoder"), config)),
      decoder_(scope("decoder"), config, encoder_->vector_width()),
      head_(head_for(scope("head"), config, target_tokens_)),
      source_dropout_(random_site("encoder/embedding/dropout")),
      target_dropout_(random_site("decoder/embedding/dropout")),
      output_dropout_(random_site("decoder/readout/dropout")) {}

std::optional<TokenId> Rnn::start_token() const {
  if (config_.start_token < 0) return std::nullopt;
  return static_cast<TokenId>(config_.start_token);
}

SourceEncoder::Result Rnn::encode(const Sequences& sources, const Pass& pass,
                                  const ContextualVectors::Observer& observe) const {
  check_sequences(sources);
  return (*encoder_)(pass.drop(source_tokens_(sources.ids), source_dropout_), sources.lengths, pass, observe);
}

Variable AnnotatingRnn::hidden(const Sequences& sources, const Pass& pass, const Observer& observe) const {
  return encode(sources, pass, observe).annotations;
}

RnnDecoder::Result Rnn::decode(const Sequences& targets, const Pass& pass, RnnDecoder::Keep keep) const {
  check<ShapeError>(targets.sources != nullptr, "targets without their sources");
  check_sequences(targets);
  const Sequences& sources = *targets.sources;
  const RnnDecoder::Source source = decoder_.remember(encode(sources, pass), sources.lengths);
  return decoder_(pass.drop(target_tokens_(targets.ids), target_dropout_), source, pass, keep);
}

Variable Rnn::target_hidden(const Sequences& targets, const Pass& pass) const {
  return pass.drop(decode(targets, pass, RnnDecoder::Keep::outputs).outputs, output_dropout_);
}

std::unique_ptr<GeneratorState> Rnn::start(const GenerationStart& start) const {
  check<ShapeError>(start.sources != nullptr, "a generation without its sources");
  check<Error>(!start.source_weights || attends_to_source(), "weights of a model that does not attend to its source");
  const RowKernelsScope kernels(RowKernels::many);
  RnnDecoder::Source source = decoder_.remember(encode(*start.sources, {}), start.sources->lengths);
  return std::make_unique<RnnState>(start, decoder_.start(source), std::move(source.memory));
}

Tensor Rnn::step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& generator_state) const {
  auto& state = dynamic_cast<RnnState&>(generator_state);
  state.check_step(ids, added);
  const RowKernelsScope kernels(ids.shape[1] == 1 ? RowKernels::few : RowKernels::many);
  const Tensor x = target_tokens_(ids).value();
  nn::Recurrent::State last{Variable(Tensor({state.batch(), config_.output_width()}, Real(0)))}, weights;
  if (state.keeps_weights) weights.emplace_back(Tensor({state.batch(), state.memory->annotations.shape()[1]}, Real(0)));
  for (Index t = 0; t < ids.shape[1]; ++t) {
    const Variable embedding(x.narrowed(1, t, 1).copy().reshaped({state.batch(), config_.embedding()}));
    const RnnDecoder::Step next = decoder_.step(embedding, state.decoder, state.memory);
    state.replace(next.state, added, t);
    replace_rows(last, {next.output}, added, t);
    if (state.keeps_weights) replace_rows(weights, {next.weights}, added, t);
  }
  if (state.keeps_weights) state.set_source_weights(weights.front().value());
  state.advance(added);
  return head_(last.front()).value();
}

// Counts a target token and a source token together.
double Rnn::training_flops_per_token(Index time, double predicted) const {
  double multiplied = predicted * static_cast<double>(vocab_size() * config_.output_width());
  for (const Parameter& parameter : parameters().all()) {
    const bool is_table = parameter.name.find("embedding/token") != std::string::npos || is_of_head(parameter.name);
    if (parameter.value().rank() >= 2 && !is_table) multiplied += static_cast<double>(parameter.size());
  }
  // Scores, and the sum of annotations by their weights.
  if (config_.has_attention()) {
    multiplied += static_cast<double>(time * (config_.width + config_.annotation_width()));
  }
  return 6.0 * multiplied;
}

void AttentiveRnn::attention_maps(const Sequences& targets, const Take& take) const {
  const Tensor weights = decode(targets, {}, RnnDecoder::Keep::weights).weights.value();
  const Shape& shape = weights.shape();
  take({"decoder/attention",
        AttentionMap::Text::own,
        AttentionMap::Text::source,
        {weights.reshaped({shape[0], 1, shape[1], shape[2]})}});
}

Architecture describe_Rnn() {
  Architecture architecture = describe<AttentiveRnn, RnnConfig>({
      {"rctm-2013", "the convolutional sentence model of 2013 for translation, 23 M parameters (Kalchbrenner, Blunsom)",
       rctm_2013()},
      {"seq2seq-2014", "the LSTM of 2014 for translation, 384 M parameters (Sutskever et al.)", seq2seq_2014()},
      {"rnnsearch-2015", "the GRU with attention of 2015, 80 M parameters (Bahdanau et al.)", rnnsearch_2015()},
  });
  architecture.learning_rate = [](const ModelConfig& config) { return recurrent_rate(config.as<RnnConfig>()->width); };
  architecture.make = [](const ModelConfig& config, ParameterSource weights) -> std::unique_ptr<Model> {
    const RnnConfig& own = *config.as<RnnConfig>();
    if (own.has_attention()) return std::make_unique<AttentiveRnn>(own, std::move(weights));
    if (own.has_annotations()) return std::make_unique<AnnotatingRnn>(own, std::move(weights));
    return std::make_unique<Rnn>(own, std::move(weights));
  };
  return architecture;
}

}  // namespace heddle::models
