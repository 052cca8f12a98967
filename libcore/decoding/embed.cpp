#include "heddle/decoding/embed.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "heddle/ops/embedding.hpp"
#include "heddle/ops/pooling.hpp"

namespace heddle::decoding {

namespace {

// Counted from 0. A layer that is named twice counts once.
std::set<Index> resolved(const std::vector<Index>& layers, Index last) {
  std::set<Index> result;
  for (const Index layer : layers) {
    check<UsageError>(layer >= -last - 1 && layer <= last, "there is no layer ", layer, "; the model has layers 0 to ",
                      last, ", or from the last one -1 to ", -last - 1);
    result.insert(layer < 0 ? last + 1 + layer : layer);
  }
  check<UsageError>(!result.empty(), "no layer is chosen");
  return result;
}

models::Sequences padded(std::span<const TextToEmbed* const> texts) {
  std::size_t time = 0;
  for (const TextToEmbed* text : texts) time = std::max(time, text->ids.size());
  // Padding is never attended to, so that any token will do.
  TokenIds ids(Shape{static_cast<Index>(texts.size()), static_cast<Index>(time)});
  std::vector<Index> lengths;
  for (const TextToEmbed* text : texts) {
    std::ranges::copy(text->ids, ids.ids.begin() + static_cast<Index>(lengths.size() * time));
    lengths.push_back(static_cast<Index>(text->ids.size()));
  }
  return {std::move(ids), std::move(lengths)};
}

// The mean over the layers: [batch, time, width].
Tensor states_of(const models::Model& model, const models::Sequences& sequences, const std::set<Index>& layers) {
  Tensor sum;
  Index layer = 0;
  model.hidden(sequences, {}, [&](const Variable& x) {
    if (!layers.contains(layer++)) return;
    if (sum.empty()) sum = Tensor(x.shape(), Real(0));
    sum.add(x.value());
  });
  sum.scale(Real(1) / static_cast<Real>(layers.size()));
  return sum;
}

Tensor mean_of_rows(const Tensor& rows) {
  return ops::mean_over_time(Variable(rows.reshaped({1, rows.shape()[0], rows.shape()[1]})), {rows.shape()[0]}).value();
}

// One text's part of a batch's states.
Tensor part_of(const Tensor& states, Index row, const TextToEmbed& text) {
  const Tensor own = states.narrowed(0, row, 1).reshaped({states.shape()[1], states.shape()[2]});
  if (text.wanted.empty()) return own.narrowed(0, 0, static_cast<Index>(text.ids.size())).copy();
  const Tensor means({static_cast<Index>(text.wanted.size()), own.shape()[1]});
  Index at = 0;
  for (const auto& [first, last] : text.wanted) {
    means.narrowed(0, at++, 1).assign(mean_of_rows(own.narrowed(0, first, last - first + 1)));
  }
  return means;
}

}  // namespace

TextToEmbed text_to_embed(const models::ModelConfig& config, const text::Tokenizer& tokenizer,
                          std::span<const TokenId> tokens, const data::TokenSpan& around) {
  const bool framed =
      config.arch == models::Architecture::encoder && tokenizer.classification() && tokenizer.separator();
  const auto count = static_cast<Index>(tokens.size()), wanted = around.last - around.first + 1;
  check<DataError>(count > 0, "has no token");
  const Index room = config.context - (framed ? 2 : 0);
  check<DataError>(wanted <= room, wanted, " tokens are more than the context of ", config.context);
  const Index kept = std::min(count, room);
  const Index begin = std::clamp<Index>(around.first - (kept - wanted) / 2, 0, count - kept);
  TextToEmbed text;
  if (framed) text.ids.push_back(*tokenizer.classification());
  text.text.first = static_cast<Index>(text.ids.size());
  text.ids.insert(text.ids.end(), tokens.begin() + begin, tokens.begin() + begin + kept);
  text.text.last = static_cast<Index>(text.ids.size()) - 1;
  const Index shift = text.text.first - begin;
  text.around = {around.first + shift, around.last + shift};
  if (framed) text.ids.push_back(*tokenizer.separator());
  return text;
}

std::vector<Tensor> embed(const models::Model& model, std::span<const TextToEmbed> texts, const EmbedOptions& options) {
  const std::set<Index> layers = resolved(options.layers, model.config().layers);
  std::vector<Tensor> results(texts.size());
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return texts[i].ids.size(); });
  for (std::size_t begin = 0; begin < order.size();) {
    // The first of a batch is its longest.
    const Index most = std::max<Index>(1, options.batch_tokens / static_cast<Index>(texts[order[begin]].ids.size()));
    const std::size_t end = std::min(order.size(), begin + static_cast<std::size_t>(most));
    std::vector<const TextToEmbed*> batch;
    for (std::size_t i = begin; i < end; ++i) batch.push_back(&texts[order[i]]);
    const Tensor states = states_of(model, padded(batch), layers);
    for (std::size_t i = begin; i < end; ++i) {
      results[order[i]] = part_of(states, static_cast<Index>(i - begin), texts[order[i]]);
    }
    begin = end;
  }
  return results;
}

Tensor embed_tokens(const models::Model& model, std::span<const TokenId> tokens) {
  check<DataError>(!tokens.empty(), "has no token");
  const auto count = static_cast<Index>(tokens.size());
  const TokenIds ids(Shape{1, count}, {tokens.begin(), tokens.end()});
  const Tensor rows = ops::embed(ids, Variable(model.token_embeddings())).value();
  return mean_of_rows(rows.reshaped({count, model.config().width})).reshaped({model.config().width});
}

}  // namespace heddle::decoding
