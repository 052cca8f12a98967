#include "libcore/decoding/predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "libcore/decoding/class_probabilities.hpp"
#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/logits.hpp"
#include "libcore/models/task_batch.hpp"
#include "libcore/tensor/kept_panels.hpp"
#include "libcore/tensor/matmul.hpp"

namespace heddle::decoding {

namespace {

using models::Answer;
using models::Answered;
using models::TaskExamples;

std::vector<Real> values_of(const Tensor& t, Index first, Index count) {
  check_finite(t.data() + first, count);
  return {t.data() + first, t.data() + first + count};
}

void predict_batch(const models::TaskModel& model, TaskExamples examples, std::span<TaskOutput* const> outputs) {
  if (answer_of(model.task().task) == Answer::span) {
    const models::Sequences sequences = models::sequences_of(examples);
    const Index time = sequences.ids.shape[1];
    const heads::Span::Scores scores = model.span_scores(sequences);
    for (std::size_t b = 0; b < outputs.size(); ++b) {
      const auto length = static_cast<Index>(examples[b]->sequence.ids.size());
      outputs[b]->start = values_of(scores.start.value(), static_cast<Index>(b) * time, length);
      outputs[b]->end = values_of(scores.end.value(), static_cast<Index>(b) * time, length);
    }
    return;
  }
  const bool words = answered_by(model.task().task) == Answered::parts;
  const auto has_position = [](const data::TaskExample* example) { return !example->positions.empty(); };
  if (words && std::ranges::none_of(examples, has_position)) return;
  const Tensor logits = models::task_logits(model, examples).value();
  const Index classes = logits.shape()[-1];
  Index row = 0;
  for (std::size_t b = 0; b < outputs.size(); ++b) {
    const Index rows = words ? static_cast<Index>(examples[b]->positions.size()) : 1;
    outputs[b]->logits = values_of(logits, row * classes, rows * classes);
    row += rows;
  }
}

// sums[i] += x[i], with room made.
void add_to(std::vector<double>& sums, const std::vector<double>& x) {
  sums.resize(std::max(sums.size(), x.size()), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] += x[i];
}

void normalise(std::vector<double>& sums) {
  const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
  if (total > 0) {
    for (double& x : sums) x /= total;
  }
}

std::vector<Tensor> matrices_of(const Parameters& parameters) {
  std::vector<Tensor> matrices;
  for (const Parameter& parameter : parameters.all()) {
    if (parameter.value().rank() == 2) matrices.push_back(parameter.value());
  }
  return matrices;
}

}  // namespace

std::vector<TaskOutput> predict(const models::TaskModel& model, std::span<const data::TaskExample> examples,
                                const PredictOptions& options) {
  std::vector<Index> lengths;
  for (const data::TaskExample& example : examples) lengths.push_back(example.length());
  using Outputs = std::vector<TaskOutput>;
  const auto body = [&](std::span<const std::size_t> numbers, Outputs& outputs) {
    if (options.stop()) return false;
    std::vector<const data::TaskExample*> batch;
    std::vector<TaskOutput*> results;
    for (const std::size_t number : numbers) {
      batch.push_back(&examples[number]);
      results.push_back(&outputs[number]);
    }
    predict_batch(model, batch, results);
    return true;
  };
  // An answer has the same bits whatever it is batched with: the first positions of a batch are few rows, those of
  // another many.
  const RowKernelsScope kernels(RowKernels::many);
  // Memory that is new to the process costs more than packing twice.
  const bool has_many = std::accumulate(lengths.begin(), lengths.end(), Index{0}) > 4 * options.batch_tokens;
  std::optional<KeptPanelsScope> kept;
  if (options.keeps_panels && has_many) kept.emplace(matrices_of(model.parameters()));
  return results_of_length_batches<TaskOutput>(lengths, options.batch_tokens, body);
}

std::vector<std::vector<double>> class_probabilities(std::span<const data::TaskExample> examples,
                                                     std::span<const TaskOutput> outputs, Index sources) {
  std::vector<std::vector<double>> result(static_cast<std::size_t>(sources));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    add_to(result[static_cast<std::size_t>(examples[i].source)], softmax(std::span<const Real>(outputs[i].logits)));
  }
  std::for_each(result.begin(), result.end(), normalise);
  return result;
}

std::vector<std::vector<double>> label_probabilities(std::span<const data::TaskExample> examples,
                                                     std::span<const TaskOutput> outputs, Index sources) {
  std::vector<std::vector<double>> result(static_cast<std::size_t>(sources));
  std::vector<double> counts(result.size(), 0.0);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto source = static_cast<std::size_t>(examples[i].source);
    std::vector<double> probabilities;
    for (const Real logit : outputs[i].logits) probabilities.push_back(1 / (1 + std::exp(-static_cast<double>(logit))));
    add_to(result[source], probabilities);
    counts[source] += 1;
  }
  for (std::size_t source = 0; source < result.size(); ++source) {
    for (double& probability : result[source]) probability /= counts[source];
  }
  return result;
}

std::vector<double> numbers(const models::TaskConfig& task, std::span<const data::TaskExample> examples,
                            std::span<const TaskOutput> outputs, Index sources) {
  std::vector<double> sums(static_cast<std::size_t>(sources), 0.0), counts(sums.size(), 0.0);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    sums[static_cast<std::size_t>(examples[i].source)] += static_cast<double>(outputs[i].logits.at(0));
    counts[static_cast<std::size_t>(examples[i].source)] += 1;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = task.mean + task.stddev * sums[i] / counts[i];
    check<NumericError>(std::isfinite(sums[i]), "the model's numbers are not finite: its task is damaged or diverged");
  }
  return sums;
}

std::vector<std::vector<std::vector<double>>> tag_probabilities(std::span<const data::TaskExample> examples,
                                                                std::span<const TaskOutput> outputs,
                                                                std::span<const Index> words, Index tags) {
  std::vector<std::vector<std::vector<double>>> result;
  for (const Index count : words) result.emplace_back(static_cast<std::size_t>(count));
  const auto width = static_cast<std::size_t>(tags);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    auto& sentence = result[static_cast<std::size_t>(examples[i].source)];
    const std::span<const Real> logits = outputs[i].logits;
    for (std::size_t row = 0; row < examples[i].words.size(); ++row) {
      add_to(sentence[static_cast<std::size_t>(examples[i].words[row])], softmax(logits.subspan(row * width, width)));
    }
  }
  for (auto& sentence : result) std::for_each(sentence.begin(), sentence.end(), normalise);
  return result;
}

std::vector<std::vector<FoundAnswer>> found_answers(std::span<const data::SpanQuestion> questions,
                                                    std::span<const data::TaskExample> examples,
                                                    std::span<const TaskOutput> outputs, const SpanLimits& limits) {
  std::vector<std::vector<FoundAnswer>> result(questions.size());
  // No answer is as likely as in the part of the context where it is least likely.
  std::vector<double> none(questions.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto source = static_cast<std::size_t>(examples[i].source);
    const TaskOutput& output = outputs[i];
    none[source] = std::min(none[source], static_cast<double>(output.start[0]) + static_cast<double>(output.end[0]));
    std::vector<bool> allowed = models::answer_positions(examples[i], static_cast<Index>(output.start.size()));
    allowed[0] = false;
    for (const ScoredSpan& span : best_spans(output.start, output.end, allowed, limits)) {
      const Index first_at = examples[i].sequence.second_at;
      const data::TextSpan place =
          data::text_of(*questions[source].context, examples[i].context, {span.first - first_at, span.last - first_at});
      result[source].push_back({place, span.score, 0});
    }
  }
  for (std::size_t source = 0; source < result.size(); ++source) {
    std::vector<FoundAnswer>& found = result[source];
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    // Parts of a context overlap, and find the same answer.
    std::vector<FoundAnswer> different;
    for (const FoundAnswer& answer : found) {
      const bool known = std::any_of(different.begin(), different.end(), [&](const FoundAnswer& other) {
        return other.place.begin == answer.place.begin && other.place.end == answer.place.end;
      });
      if (!known && static_cast<Index>(different.size()) < limits.count) different.push_back(answer);
    }
    for (FoundAnswer& answer : different) answer.null_score = none[source] - answer.score;
    found = std::move(different);
  }
  return result;
}

}  // namespace heddle::decoding
