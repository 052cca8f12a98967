#include "libcore/analysis/embed.hpp"

#include <algorithm>

#include "libcore/decoding/length_batches.hpp"
#include "libcore/models/text_frame.hpp"
#include "libcore/ops/embedding.hpp"
#include "libcore/ops/pooling.hpp"
#include "libcore/tensor/exponentials.hpp"

namespace heddle::analysis {

namespace {

using States = std::vector<Real>;  // states of a text, [rows, width]

// The mean over the layers: [batch, time, width].
Tensor states_of(const models::ContextualVectors& model, const models::Sequences& sequences,
                 const std::set<Index>& layers) {
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

std::set<Index> chosen_layers(const std::vector<Index>& layers, Index first, Index last) {
  std::set<Index> result;
  const Index count = last - first + 1;
  for (const Index layer : layers) {
    if (layer == all_layers) {
      for (Index i = first; i <= last; ++i) result.insert(i);
      continue;
    }
    const Index wanted = layer < 0 ? last + 1 + layer : layer;
    check<UsageError>(wanted >= first && wanted <= last, "`layer` = ", layer, ": the model has layers ", first, " to ",
                      last, ", or from the last one -1 to ", -count);
    result.insert(wanted);
  }
  check<UsageError>(!result.empty(), "no layer is chosen");
  return result;
}

TextToEmbed text_to_embed(const models::ContextualVectors& model, const text::Tokenizer& tokenizer,
                          std::span<const TokenId> tokens, const data::TokenSpan& around) {
  const std::optional<data::TextFrame> frame = models::reading_frame(model, tokenizer);
  const auto count = static_cast<Index>(tokens.size()), wanted = around.last - around.first + 1;
  check<DataError>(count > 0, "has no token");
  const Index room = model.position_limit() - (frame ? frame->tokens() : 0);
  check<DataError>(wanted <= room, wanted, " tokens are more than the context of ", model.position_limit());
  const Index kept = std::min(count, room);
  const Index begin = std::clamp<Index>(around.first - (kept - wanted) / 2, 0, count - kept);
  TextToEmbed text;
  if (frame && frame->begin) text.ids.push_back(*frame->begin);
  text.text.first = static_cast<Index>(text.ids.size());
  text.ids.insert(text.ids.end(), tokens.begin() + begin, tokens.begin() + begin + kept);
  text.text.last = static_cast<Index>(text.ids.size()) - 1;
  const Index shift = text.text.first - begin;
  text.around = {around.first + shift, around.last + shift};
  if (frame) text.ids.push_back(frame->end);
  return text;
}

std::vector<Tensor> embed(const models::ContextualVectors& model, std::span<const TextToEmbed> texts,
                          const EmbedOptions& options) {
  const std::set<Index> layers = chosen_layers(options.layers, 0, model.layers());
  std::vector<Index> lengths;
  for (const TextToEmbed& text : texts) lengths.push_back(static_cast<Index>(text.ids.size()));
  const auto body = [&](std::span<const std::size_t> numbers, std::vector<States>& results) {
    std::vector<models::TokenList> lists;
    for (const std::size_t number : numbers) lists.emplace_back(texts[number].ids);
    const Tensor states = states_of(model, models::padded(lists), layers);
    Index row = 0;
    for (const std::size_t number : numbers) {
      const Tensor part = part_of(states, row++, texts[number]);
      check<NumericError>(are_finite(part.data(), part.size()),
                          "the model's hidden states are not finite: its weights are damaged or diverged");
      results[number].assign(part.data(), part.data() + part.size());
    }
    return true;
  };
  std::vector<Tensor> results;
  for (const States& of_text : decoding::results_of_length_batches<States>(lengths, options.batch_tokens, body)) {
    results.emplace_back(Shape{std::ssize(of_text) / model.width(), model.width()});
    std::ranges::copy(of_text, results.back().data());
  }
  return results;
}

Tensor embed_tokens(const models::ContextualVectors& model, std::span<const TokenId> tokens) {
  check<DataError>(!tokens.empty(), "has no token");
  const auto count = static_cast<Index>(tokens.size());
  const TokenIds ids(Shape{1, count}, {tokens.begin(), tokens.end()});
  const Tensor rows = ops::embed(ids, Variable(model.token_embeddings())).value();
  check<NumericError>(are_finite(rows.data(), rows.size()),
                      "the model's embeddings are not finite: its weights are damaged or diverged");
  const Index width = rows.shape()[2];
  return mean_of_rows(rows.reshaped({count, width})).reshaped({width});
}

}  // namespace heddle::analysis
