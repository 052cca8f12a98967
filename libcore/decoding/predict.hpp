// Predictions of a model with a task's head.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "libcore/decoding/best_spans.hpp"
#include "libcore/decoding/length_batches.hpp"
#include "libcore/models/task_model.hpp"

namespace heddle::decoding {

// The output for one sequence: logits [rows, classes] in row-major order, a row for the sequence or for each of its
// words; for spans the scores of its positions as first and as last one.
struct TaskOutput {
  std::vector<Real> logits;
  std::vector<Real> start, end;

  auto parts() { return std::tie(logits, start, end); }
  auto parts() const { return std::tie(logits, start, end); }
};

struct PredictOptions {
  Index batch_tokens = usual_batch_tokens;  // padded tokens in a batch, at most, where one sequence is not longer
  std::function<bool()> stop = [] { return false; };
  // Packs weights once for many batches, for as much memory again as they take (KeptPanelsScope).
  bool keeps_panels = false;
};

// One output per sequence, in order. Sequences of similar length share a batch; ranks divide the batches
// (parallel::Divided). When stopped, the outputs are undefined.
// Throws NumericError where an output is not finite.
std::vector<TaskOutput> predict(const models::TaskModel& model, std::span<const data::TaskExample> examples,
                                const PredictOptions& options = {});

// The functions below combine the parts of split examples: `sources` examples, each with its sequences' outputs.

// The probability of each class, the mean over the sequences: [sources][classes].
std::vector<std::vector<double>> class_probabilities(std::span<const data::TaskExample> examples,
                                                     std::span<const TaskOutput> outputs, Index sources);

// The probability of each label, which any number of may hold, the mean over the sequences: [sources][labels].
std::vector<std::vector<double>> label_probabilities(std::span<const data::TaskExample> examples,
                                                     std::span<const TaskOutput> outputs, Index sources);

// The number, the mean over the sequences: [sources].
std::vector<double> numbers(const models::TaskConfig& task, std::span<const data::TaskExample> examples,
                            std::span<const TaskOutput> outputs, Index sources);

// The probability of each tag for each word: [sources][words][tags]; empty for words without a token.
std::vector<std::vector<std::vector<double>>> tag_probabilities(std::span<const data::TaskExample> examples,
                                                                std::span<const TaskOutput> outputs,
                                                                std::span<const Index> words, Index tags);

// An answer's bytes in the context, its score, start + end, and by how much the score of no answer exceeds it.
struct FoundAnswer {
  data::TextSpan place;
  double score = 0, null_score = 0;
};
// The best answers of a question, the best first: those of its best sequence and of the others together.
std::vector<std::vector<FoundAnswer>> found_answers(std::span<const data::SpanQuestion> questions,
                                                    std::span<const data::TaskExample> examples,
                                                    std::span<const TaskOutput> outputs, const SpanLimits& limits);

}  // namespace heddle::decoding
