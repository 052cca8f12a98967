#include "libcore/nn/input_embeddings.hpp"
#include "libcore/nn/parts.hpp"

#include <algorithm>

#include "libcore/ops/arithmetic.hpp"

namespace heddle::nn {

namespace {

std::optional<Embedding> segment_embedding(const Scope& scope, const InputEmbeddingsOptions& options) {
  if (options.segments == 0) return std::nullopt;
  return Embedding(scope / "segment", options.segments, options.width, options.stddev);
}

std::optional<Norm> norm_of(const Scope& scope, const InputEmbeddingsOptions& options) {
  if (!options.norm) return std::nullopt;
  return Norm(scope / "norm", options.width, *options.norm);
}

}  // namespace

InputEmbeddings::InputEmbeddings(const Scope& scope, const InputEmbeddingsOptions& options)
    : context_(options.context),
      tokens_(options.tokens != nullptr ? *options.tokens
                                        : Embedding(scope / "token", options.vocab, options.width, options.stddev)),
      positions_(make_positions(options.positions, scope / "position", options.position_shape)),
      segments_(segment_embedding(scope, options)),
      norm_(norm_of(scope, options)),
      dropout_site_(random_site(scope.path() + "/dropout")) {}

Variable InputEmbeddings::operator()(const TokenIds& ids, const std::vector<TokenId>& segments,
                                     const std::vector<Index>& starts) const {
  const Index end = ids.shape[1] + (starts.empty() ? 0 : *std::ranges::min_element(starts));
  check<DataError>(!context_ || end <= *context_, "a sequence of ", end, " tokens is longer than the context of ",
                   context_.value_or(0));
  return around(tokens_(ids), segments, starts);
}

Variable InputEmbeddings::around(const Variable& vectors, const std::vector<TokenId>& segments,
                                 const std::vector<Index>& starts) const {
  Variable x = [&] {
    const Part part(parts::positions);
    return positions_->embed(vectors, starts);
  }();
  if (segments_) {
    const Part part(parts::segments);
    TokenIds kinds(Shape{x.shape()[0], x.shape()[1]});
    if (!segments.empty()) kinds.ids = segments;
    x = ops::add(x, (*segments_)(kinds));
  } else {
    const bool all_zero = std::ranges::all_of(segments, [](TokenId segment) { return segment == 0; });
    check<DataError>(all_zero, "the model has no embeddings of segments");
  }
  return norm_ ? (*norm_)(x, Norm::Result::residual) : x;
}

}  // namespace heddle::nn
