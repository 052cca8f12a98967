#include "libcore/decoding/score.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/logits.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::decoding {

namespace {

using Batch = std::span<const std::size_t>;

// The logits of all scored tokens of a batch take much memory: they are computed for some at a time.
constexpr Index logit_rows_at_once = 1024;

// The parts of both kinds of models that scoring uses.
struct Scorer {
  const models::TokenModel& model;
  const heads::TokenHead& head;
  std::function<Variable(const models::Sequences&)> hidden;
};

// One result for each row of logits [rows, vocab] and its target.
template <class Result>
using Reader = std::function<std::vector<Result>(const Tensor& logits, const Tokens& targets)>;

// Reads targets[i] after the hidden state rows[i].
template <class Result>
std::vector<Result> read_targets(const heads::TokenHead& head, const Variable& hidden, const std::vector<Index>& rows,
                                 const Tokens& targets, const Reader<Result>& read) {
  std::vector<Result> all;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = begin + std::min<Index>(logit_rows_at_once, rows.end() - begin);
    const Tokens some(targets.begin() + (begin - rows.begin()), targets.begin() + (end - rows.begin()));
    const Variable logits = head(ops::gather_rows(hidden, {begin, end}));
    std::ranges::move(read(logits.value(), some), std::back_inserter(all));
    begin = end;
  }
  return all;
}

// Model input of a text: its last token is not read.
models::TokenList read_of(const GivenTokens& text) {
  return models::TokenList(text.ids).first(text.ids.size() - 1);
}

template <class Result>
void score(const Scorer& scorer, std::span<const GivenTokens> texts, Batch batch, const Reader<Result>& read,
           std::span<std::vector<Result>* const> scores) {
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
  auto all = read_targets(scorer.head, scorer.hidden(sequences), rows, targets, read);
  auto next = std::make_move_iterator(all.begin());
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const auto count = static_cast<Index>(texts[batch[b]].ids.size()) - texts[batch[b]].from;
    scores[b]->assign(next, next + count);
    next += count;
  }
}

template <class Result>
std::vector<std::vector<Result>> scores_of(const Scorer& scorer, std::span<const GivenTokens> texts, Index batch_tokens,
                                           const Reader<Result>& read) {
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
  using Scores = std::vector<Result>;
  auto found = results_of_length_batches<Scores>(lengths, batch_tokens, [&](Batch numbers, std::vector<Scores>& all) {
    std::vector<std::size_t> batch;
    std::vector<Scores*> results;
    for (const std::size_t number : numbers) {
      batch.push_back(scored[number]);
      results.push_back(&all[number]);
    }
    score<Result>(scorer, texts, batch, read, results);
    return true;
  });
  std::vector<Scores> scores(texts.size());
  for (std::size_t i = 0; i < scored.size(); ++i) scores[scored[i]] = std::move(found[i]);
  return scores;
}

Scorer scorer_of(const models::TokenLoss& model) {
  return {model, model.next_token_head(), [&model](const auto& sequences) { return model.next_hidden(sequences); }};
}
Scorer scorer_of(const models::SequenceToSequence& model) {
  return {model, model.target_head(), [&model](const auto& targets) { return model.target_hidden(targets); }};
}

// -sum of p log p, with p = e^(logit - log_sum).
double entropy_of(const Real* logits, Index vocab, double log_sum) {
  double entropy = 0;
  for (Index i = 0; i < vocab; ++i) {
    const double log_probability = static_cast<double>(logits[i]) - log_sum;
    entropy -= std::exp(log_probability) * log_probability;
  }
  return entropy;
}

Index rank_of(const Real* logits, Index vocab, TokenId target) {
  Index rank = 1;
  for (Index i = 0; i < vocab; ++i) {
    rank += logits[i] > logits[target] || (logits[i] == logits[target] && i < target) ? 1 : 0;
  }
  return rank;
}

Reader<TokenPrediction> prediction_reader(const LikelyOptions& options) {
  return [options](const Tensor& logits, const Tokens& targets) {
    const std::vector<double> log_probabilities = decoding::log_probabilities(logits, targets);
    const Index vocab = logits.shape()[-1];
    std::vector<TokenPrediction> predictions(targets.size());
    parallel_for(static_cast<Index>(targets.size()), [&](Index row) {
      const auto i = static_cast<std::size_t>(row);
      const Real* const values = logits.data() + row * vocab;
      const double log_sum = log_sum_exp(values, vocab);
      predictions[i] = {log_probabilities[i], rank_of(values, vocab, targets[i]), entropy_of(values, vocab, log_sum),
                        most_likely(values, vocab, log_sum, options)};
    });
    return predictions;
  };
}

// The sequence once for each of the places, where it has the mask.
TokenIds masked_copies(const Tokens& ids, std::span<const Index> places, TokenId mask) {
  TokenIds copies(Shape{static_cast<Index>(places.size()), static_cast<Index>(ids.size())});
  auto row = copies.ids.begin();
  for (const Index place : places) {
    const auto next = std::ranges::copy(ids, row).out;
    row[place] = mask;
    row = next;
  }
  return copies;
}

template <class Result>
std::vector<Result> masked_scores(const models::MaskedPredictor& model, const Tokens& ids,
                                  std::span<const Index> places, TokenId mask, Index batch_tokens,
                                  const Reader<Result>& read) {
  const auto time = static_cast<Index>(ids.size());
  const auto at_once = static_cast<std::size_t>(std::max<Index>(1, batch_tokens / std::max<Index>(1, time)));
  const RowKernelsScope kernels(RowKernels::many);
  std::vector<Result> all;
  for (std::size_t first = 0; first < places.size(); first += at_once) {
    const auto some = places.subspan(first, std::min(at_once, places.size() - first));
    Tokens targets;
    std::vector<Index> rows;
    for (const Index place : some) {
      rows.push_back(static_cast<Index>(targets.size()) * time + place);
      targets.push_back(ids.at(static_cast<std::size_t>(place)));
    }
    const Variable hidden = model.masked_hidden({masked_copies(ids, some, mask)});
    std::ranges::move(read_targets(model.masked_token_head(), hidden, rows, targets, read), std::back_inserter(all));
  }
  return all;
}

template <class Model>
std::vector<std::vector<double>> mean_of(std::span<const Model* const> models, std::span<const GivenTokens> texts) {
  std::vector<std::vector<double>> mean = token_log_probabilities(*models.front(), texts);
  for (const Model* const model : models.subspan(1)) {
    const std::vector<std::vector<double>> other = token_log_probabilities(*model, texts);
    for (std::size_t i = 0; i < mean.size(); ++i)
      std::ranges::transform(mean[i], other[i], mean[i].begin(), std::plus());
  }
  for (std::vector<double>& text : mean) {
    for (double& value : text) value /= static_cast<double>(models.size());
  }
  return mean;
}

}  // namespace

Index score_limit(const models::TokenModel& model) {
  return model.position_limit() + 1;
}

std::vector<std::vector<double>> token_log_probabilities(const models::TokenLoss& model,
                                                         std::span<const GivenTokens> texts, Index batch_tokens) {
  return scores_of<double>(scorer_of(model), texts, batch_tokens, log_probabilities);
}

std::vector<std::vector<double>> token_log_probabilities(const models::SequenceToSequence& model,
                                                         std::span<const GivenTokens> texts, Index batch_tokens) {
  return scores_of<double>(scorer_of(model), texts, batch_tokens, log_probabilities);
}

std::vector<std::vector<double>> mean_log_probabilities(std::span<const models::TokenLoss* const> models,
                                                        std::span<const GivenTokens> texts) {
  return mean_of(models, texts);
}

std::vector<std::vector<double>> mean_log_probabilities(std::span<const models::SequenceToSequence* const> models,
                                                        std::span<const GivenTokens> texts) {
  return mean_of(models, texts);
}

std::vector<std::vector<TokenPrediction>> token_predictions(const models::TokenLoss& model,
                                                            std::span<const GivenTokens> texts,
                                                            const LikelyOptions& options) {
  return scores_of(scorer_of(model), texts, options.batch_tokens, prediction_reader(options));
}

std::vector<std::vector<TokenPrediction>> token_predictions(const models::SequenceToSequence& model,
                                                            std::span<const GivenTokens> texts,
                                                            const LikelyOptions& options) {
  return scores_of(scorer_of(model), texts, options.batch_tokens, prediction_reader(options));
}

std::vector<double> masked_log_probabilities(const models::MaskedPredictor& model, const Tokens& ids,
                                             std::span<const Index> places, TokenId mask, Index batch_tokens) {
  return masked_scores<double>(model, ids, places, mask, batch_tokens, log_probabilities);
}

std::vector<TokenPrediction> masked_predictions(const models::MaskedPredictor& model, const Tokens& ids,
                                                std::span<const Index> places, TokenId mask,
                                                const LikelyOptions& options) {
  return masked_scores(model, ids, places, mask, options.batch_tokens, prediction_reader(options));
}

std::vector<GivenTokens> scored_parts(const models::TokenModel& model, const Tokens& ids) {
  const auto size = static_cast<Index>(ids.size()), most = score_limit(model);
  std::vector<GivenTokens> parts;
  for (Index scored = 1, end = std::min(size, most); scored < size;
       scored = end, end = std::min(size, end + model.position_limit() / 2)) {
    const Index begin = std::max<Index>(0, end - most);
    parts.push_back({{ids.begin() + begin, ids.begin() + end}, scored - begin});
  }
  return parts;
}

}  // namespace heddle::decoding
