// Texts with any number of labels: which they are given, what is chosen for that, and how good it is.
#pragma once

#include <vector>

#include "libcore/metrics/label_sets.hpp"
#include "tools/tasks/evaluation_report.hpp"
#include "tools/tasks/task_answers.hpp"

namespace heddle {

// The threshold of a label, where they may be missing.
double threshold_of(const std::vector<double>& thresholds, std::size_t label);

// The labels with at least their thresholds, most probable first.
std::vector<Index> given_labels(const std::vector<double>& probabilities, const std::vector<double>& thresholds);

// The labels of one text, in order of ids. Labels without a probability have 0.
metrics::RankedLabels ranked_labels(const data::LabelledText& text, const std::vector<double>& probabilities,
                                    const data::LabelSet& labels);

// The threshold of each label with the best F1 on these examples.
std::vector<double> best_thresholds(const LabelProbabilities& of, const TaskData& data, const data::LabelSet& labels);

// The probabilities with their logits divided by a temperature; without thresholds.
LabelProbabilities tempered(const LabelProbabilities& given, double temperature);

// Each label of each text as an example of two classes, of which the second is having it.
struct LabelPairs {
  std::vector<std::vector<double>> probabilities;
  std::vector<Index> gold;
};
LabelPairs label_pairs(const LabelProbabilities& of, const TaskData& data, const data::LabelSet& labels);

// The class by which texts are divided among parts: the rarest of its labels, or a further one for a text without any.
std::vector<Index> rarest_labels(const TaskData& data, const data::LabelSet& labels);

// judge() for them.
Judgement judge_label_sets(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses,
                           const Judge& criteria);

}  // namespace heddle
