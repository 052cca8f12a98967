#include "libcore/models/stack_model.hpp"

#include "libcore/nn/parts.hpp"

namespace heddle::models {

StackModel::StackModel(const ModelConfig& config, const TransformerConfig& transformer, ParameterSource weights,
                       const Direction& direction)
    : ModelOfTokens(config, std::move(weights)),
      transformer_(transformer),
      causal_(direction.causal),
      relative_segments_(direction.relative_segments),
      embeddings_(scope(config.arch()) / "embedding",
                  embeddings_options(transformer, direction.causal, direction.embedding_width)),
      projection_(embedding_projection(scope(config.arch()) / "embedding", transformer, direction.embedding_width)),
      stack_(scope(config.arch()), transformer,
             {.positions = &embeddings_.positions(),
              .needed = direction.needed,
              .relative_segments = direction.relative_segments,
              .memory = direction.memory}) {
  if (direction.value_embeddings == 0) return;
  const HeadShape shape = transformer.head_shape();
  values_.emplace(scope(config.arch()),
                  nn::ValueEmbeddings::Options{transformer.vocab_size, shape.kv_heads * shape.value_width,
                                               transformer.layers, direction.value_embeddings});
}

std::vector<nn::AddedValues> StackModel::values(const TokenIds& ids) const {
  return values_ ? (*values_)(ids) : std::vector<nn::AddedValues>();
}

Mask StackModel::mask(const Sequences& sequences) const {
  const Index window = sequences.earlier != nullptr ? stack_.window_after(*sequences.earlier) : stack_.window();
  return {.causal = causal_, .window = window, .key_lengths = sequences.lengths};
}

Variable StackModel::look_up(const Sequences& sequences) const {
  check_sequences(sequences, causal_ ? std::optional(layers()) : std::nullopt);
  const bool adds_segments = transformer_.segments > 0 || !relative_segments_;
  return embeddings_(sequences.ids, adds_segments ? sequences.segments : std::vector<TokenId>());
}

Variable StackModel::embed(const Sequences& sequences) const {
  const Variable x = look_up(sequences);
  const Part part(nn::parts::token_embeddings);
  return projection_ ? (*projection_)(x, {.output = DType::real}) : x;
}

StackContext StackModel::context(const Sequences& sequences) const {
  StackContext result{.earlier = sequences.earlier.get(), .values = values(sequences.ids)};
  if (relative_segments_ && !sequences.segments.empty()) {
    result.segments = std::make_shared<const TokenIds>(sequences.ids.shape, sequences.segments);
  }
  return result;
}

Variable StackModel::hidden(const Sequences& sequences, const Pass& pass, const Observer& observe) const {
  return stack_(embeddings_.drop(embed(sequences), pass), mask(sequences), pass, observe, context(sequences));
}

Variable StackModel::hidden_at(const std::vector<Index>& positions, const Sequences& sequences,
                               const Pass& pass) const {
  check<ShapeError>(sequences.earlier == nullptr, "single positions of sequences that continue others");
  return stack_.at(positions, embeddings_.drop(embed(sequences), pass), mask(sequences), pass, context(sequences));
}

void StackModel::attention_maps(const Sequences& sequences, const Take& take) const {
  stack_.attention_maps(embed(sequences), mask(sequences), {config().arch(), AttentionMap::Text::own, take},
                        context(sequences));
}

// Matrices multiply; embeddings are looked up, unless the output shares them; the head multiplies predicted tokens
// only.
double StackModel::training_flops_per_token(Index time, double predicted) const {
  double multiplied = 0;
  const std::string embedding = config().arch() + "/embedding/";
  for (const Parameter& parameter : parameters().all()) {
    const auto size = static_cast<double>(parameter.size());
    const bool is_vector = parameter.value().rank() < 2;
    const bool is_table = parameter.name.starts_with(embedding) && !parameter.name.ends_with("/projection/weight");
    if (is_vector || is_table || is_of_summary(parameter.name)) continue;
    multiplied += is_of_head(parameter.name) ? predicted * size : size * transformer_.uses_of_a_block();
  }
  if (transformer_.tie_embeddings) multiplied += predicted * static_cast<double>(token_embeddings().size());
  return 6.0 * multiplied + transformer_.attention_flops_per_token(time, causal_);
}

}  // namespace heddle::models
