#include "heddle/decoding/score.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "heddle/decoding/length_batches.hpp"
#include "heddle/decoding/logits.hpp"
#include "heddle/ops/gather.hpp"
#include "heddle/tensor/matmul.hpp"

namespace heddle::decoding {

namespace {

using Batch = std::span<const std::size_t>;

// The logits of all scored tokens of a batch take much memory: they are computed for some at a time.
constexpr Index rows_at_once = 1024;

// The parts of both kinds of models that scoring uses.
struct Scorer {
  const models::TokenModel& model;
  const heads::TokenHead& head;
  std::function<Variable(const models::Sequences&)> hidden;
};

// The log-probabilities of targets[i] after the hidden state rows[i].
std::vector<double> target_scores(const heads::TokenHead& head, const Variable& hidden, const std::vector<Index>& rows,
                                  const Tokens& targets) {
  std::vector<double> all;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = begin + std::min<Index>(rows_at_once, rows.end() - begin);
    const Tokens some(targets.begin() + (begin - rows.begin()), targets.begin() + (end - rows.begin()));
    const Variable logits = head(ops::gather_rows(hidden, {begin, end}));
    std::ranges::copy(log_probabilities(logits.value(), some), std::back_inserter(all));
    begin = end;
  }
  return all;
}

// What the model reads of a text: nothing follows its last token.
models::TokenList read_of(const GivenTokens& text) {
  return models::TokenList(text.ids).first(text.ids.size() - 1);
}

void score(const Scorer& scorer, std::span<const GivenTokens> texts, Batch batch,
           std::vector<std::vector<double>>& scores) {
  std::vector<models::TokenList> lists, sources;
  for (const std::size_t number : batch) {
    lists.push_back(read_of(texts[number]));
    if (!texts[number].source.empty()) sources.emplace_back(texts[number].source);
  }
  // Two positions at least, since single queries are mixed in another way, and neighbours must not decide that.
  models::Sequences sequences = models::padded(lists, std::min<Index>(2, scorer.model.position_limit()));
  if (!sources.empty()) sequences.sources = std::make_shared<const models::Sequences>(models::padded(sources, 2));
  std::vector<Index> rows;
  Tokens targets;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const auto& [text, from, source] = texts[batch[b]];
    const Index begin = static_cast<Index>(b) * sequences.ids.shape[1];
    for (Index t = from - 1; t < sequences.lengths[b]; ++t) rows.push_back(begin + t);
    targets.insert(targets.end(), text.begin() + from, text.end());
  }
  const RowKernelsScope kernels(RowKernels::many);
  const auto all = target_scores(scorer.head, scorer.hidden(sequences), rows, targets);
  auto next = all.begin();
  for (const std::size_t number : batch) {
    const auto count = static_cast<Index>(texts[number].ids.size()) - texts[number].from;
    scores[number].assign(next, next + count);
    next += count;
  }
}

std::vector<std::vector<double>> scores_of(const Scorer& scorer, std::span<const GivenTokens> texts,
                                           Index batch_tokens) {
  std::vector<std::size_t> scored;  // texts of which a token is
  std::vector<Index> lengths;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& [ids, from, source] = texts[i];
    check<ShapeError>(from >= 1 && from <= static_cast<Index>(ids.size()), "of ", ids.size(), " tokens those from ",
                      from, " on cannot be scored");
    if (from == static_cast<Index>(ids.size())) continue;
    scored.push_back(i);
    lengths.push_back(static_cast<Index>(std::max(read_of(texts[i]).size(), source.size())));
  }
  std::vector<std::vector<double>> scores(texts.size());
  for_each_length_batch(lengths, batch_tokens, [&](Batch numbers) {
    std::vector<std::size_t> batch;
    for (const std::size_t number : numbers) batch.push_back(scored[number]);
    score(scorer, texts, batch, scores);
    return true;
  });
  return scores;
}

}  // namespace

Index score_limit(const models::TokenModel& model) {
  return model.position_limit() + 1;
}

std::vector<std::vector<double>> token_log_probabilities(const models::TokenLoss& model,
                                                         std::span<const GivenTokens> texts, Index batch_tokens) {
  const auto hidden = [&model](const models::Sequences& sequences) { return model.hidden(sequences); };
  return scores_of({model, model.next_token_head(), hidden}, texts, batch_tokens);
}

std::vector<std::vector<double>> token_log_probabilities(const models::SequenceToSequence& model,
                                                         std::span<const GivenTokens> texts, Index batch_tokens) {
  const auto hidden = [&model](const models::Sequences& targets) { return model.target_hidden(targets); };
  return scores_of({model, model.target_head(), hidden}, texts, batch_tokens);
}

}  // namespace heddle::decoding
