#include "libcore/models/two_stream.hpp"

#include <algorithm>

#include "libcore/models/architecture.hpp"
#include "libcore/ops/embedding.hpp"

namespace heddle::models {

namespace {

AttentionSupport needed_by(const TwoStreamConfig& config) {
  return {.pairs = true, .segments = config.relative_segments};
}

heads::LanguageModel head_for(const Scope& scope, const TwoStreamConfig& config, const nn::Embedding& tokens) {
  if (config.tie_embeddings) return heads::LanguageModel(scope, tokens);
  return {scope, config.vocab_size, config.width, embedding_stddev};
}

// No limit of positions, as in the published model, which was trained on 512.
TwoStreamConfig xlnet_base() {
  TwoStreamConfig config;
  config.layers = 12;
  config.width = 768;
  config.heads = 12;
  config.activation = "gelu";
  config.block = "post";
  config.norm_epsilon = 1e-12;
  config.attention_bias = false;
  config.vocab_size = 32000;
  config.sequence_length = 512;
  config.dropout = 0.1;
  return config;
}

}  // namespace

void TwoStreamConfig::validate() const {
  check_transformer(*this, needed_by(*this));
}

TwoStream::TwoStream(const TwoStreamConfig& config, ParameterSource weights)
    : StackModel(config, std::move(weights),
                 {.causal = false, .needed = needed_by(config), .relative_segments = config.relative_segments}),
      query_(scope("two-stream/embedding/query")
                 .parameter("weight", {1, config.width}, Initializer::normal(embedding_stddev), Decay::yes)),
      head_(head_for(scope("head"), config, embeddings().tokens())) {}

PermutationPredictor::Streams TwoStream::streams(const Sequences& sequences, const Ranks& ranks,
                                                 const Pass& pass) const {
  const Shape shape = sequences.ids.shape;
  const Variable content = embed(sequences);
  check<ShapeError>(static_cast<Index>(ranks.size()) == shape[0] &&
                        std::ranges::all_of(ranks, [&](const auto& row) { return std::ssize(row) == shape[1]; }),
                    "ranks of ", ranks.size(), " sequences for ids of shape ", shape);
  const std::vector<TokenId> segments = transformer().segments > 0 ? sequences.segments : std::vector<TokenId>();
  const Variable query = embeddings().around(ops::embed(TokenIds(shape), query_), segments);
  Stack::StreamMasks masks{{.window = stack().window(), .key_lengths = sequences.lengths}, {}};
  masks.query = masks.content;
  masks.content.pairs = AllowedPairs::by_rank(ranks, AllowedPairs::Ties::attend);
  masks.query.pairs = AllowedPairs::by_rank(ranks, AllowedPairs::Ties::hidden);
  const Stack::Streams states = stack().streams(
      {embeddings().drop(content, pass), embeddings().drop(query, pass.again(1))}, masks, pass, context(sequences));
  return {states.content, states.query};
}

bool TwoStream::is_beside_vectors(std::string_view parameter) const {
  return Model::is_beside_vectors(parameter) || parameter == "two-stream/embedding/query/weight";
}

// The queries pass through all matrices but those of keys and values, and attend to as many.
double TwoStream::training_flops_per_token(Index time, double predicted) const {
  double again = 0;
  for (const Parameter& parameter : parameters().all()) {
    const auto has = [&](const char* part) { return parameter.name.find(part) != std::string::npos; };
    const bool is_of_layer = parameter.value().rank() == 2 && !has("/embedding/") && !is_of_head(parameter.name);
    if (!is_of_layer || has("/key/") || has("/value/") || has("/positions/") || has("/segments/")) continue;
    again += static_cast<double>(parameter.size()) * transformer().uses_of_a_block();
  }
  return StackModel::training_flops_per_token(time, predicted) + 6 * again +
         transformer().attention_flops_per_token(time, false);
}

// Source: Yang et al. 2019, "XLNet", and its published code: its count of 116,718,336 has the vectors of tokens and of
// the query, and of each layer the five projections without biases, the biases of content, position and segment, the
// vectors of segments, the feed-forward network and two norms; it has no bias of the output. Its memory of earlier
// windows is not here.
Architecture describe_TwoStream() {
  return describe<TwoStream, TwoStreamConfig>({{"xlnet-base", "XLNet, 117 M parameters", xlnet_base()}});
}

}  // namespace heddle::models
