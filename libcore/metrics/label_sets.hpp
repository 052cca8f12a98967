// Metrics of texts that each have any number of L labels, with a probability for each label. Of a text, y is the set of
// its gold labels, and z of those that it was given, which reach their thresholds:
//
//   micro F1 = 2 sum_i |y_i and z_i| / sum_i (|y_i| + |z_i|)
//   macro F1 = mean of the F1 of those labels that occur, in gold sets or given ones
//   subset accuracy = fraction of texts with y = z
//   Hamming loss = 1/(n L) sum_i |labels that are in one of y_i and z_i|
//   ranking precision = 1/n sum_i 1/|y_i| sum over l in y_i of
//                       |{k in y_i: p_k >= p_l}| / |{k: p_k >= p_l}|,  1 where y_i is empty or has all labels
//   mean average precision = mean of the average precision (ranking.hpp) of those labels that occur in gold sets
// Sources: Tsoumakas, Katakis and Vlahavas 2010, "Mining multi-label data", 34.4; the ranking precision as
// scikit-learn's label_ranking_average_precision_score has it where labels have equal probabilities.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/metrics/ranking.hpp"
#include "libcore/metrics/scores.hpp"

namespace heddle::metrics {

// One text: of each label its probability, and whether it is a gold one.
using RankedLabels = std::vector<RankedExample>;

// The ranking precision of one text.
double ranking_precision(const RankedLabels& labels);

// The threshold that maximises the F1 of one label, given to the examples with at least that probability: 1/2 where
// none is better, or where no example has the label, else the middle between two neighbouring probabilities, of several
// equally good ones that nearest to 1/2. Source: Lewis et al. 2004, "RCV1", section 4.2 (SCut).
double best_threshold(std::vector<RankedExample> examples);

// Scores of one text's predicted labels against its gold ones.
struct TextScores {
  Matches labels;
  bool is_exact = false;
  double ranking_precision = 0;
};
// Precondition: a threshold for each label.
TextScores score_text(const RankedLabels& labels, std::span<const double> thresholds);

// Throw DataError where there is no text.
double micro_f1(std::span<const TextScores> texts);
double subset_accuracy(std::span<const TextScores> texts);
double hamming_loss(std::span<const TextScores> texts, Index labels);
double ranking_precision(std::span<const TextScores> texts);

// The matches of each label.
std::vector<Matches> label_matches(std::span<const RankedLabels* const> texts, std::span<const double> thresholds);
double macro_f1(std::span<const Matches> labels);
// Throws DataError where there is no text. 0 where no text has a label.
double mean_average_precision(std::span<const RankedLabels* const> texts);

struct LabelReport {
  Scores scores;
  double threshold = 0, average_precision = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    Scores::visit(self.scores, visitor);
    visitor(Field("threshold", "least probability with which texts get the label"), self.threshold);
    visitor(Field("average_precision", "area under the curve of precision against recall"), self.average_precision);
  }
};

struct LabelSetReport {
  Index examples = 0;
  ByName<LabelReport> labels;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("examples", "number of texts"), self.examples);
    visitor(Field("labels", "scores of each label"), self.labels);
  }
};

}  // namespace heddle::metrics
