// The page of a choice between models: data, candidates, errors, calibration and words, in one HTML file without
// scripts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/tasks/task_answers.hpp"

namespace heddle {

struct CandidateRow {
  std::string name;
  double metric = 0, low = 0, high = 0;  // with a 95 % confidence interval
  double macro_f1 = 0, log_loss = 0, brier = 0, ece = 0, seconds = 0;
  bool is_chosen = false;
};

// A word with its weight for a class, above the mean of all classes: what it adds to the logit, but for the factor that
// the whole text has.
using WordWeight = std::pair<std::string, double>;

// The metric of models like the chosen one that learned from fewer examples, or from all.
struct CurvePoint {
  Index examples = 0;
  double metric = 0, low = 0, high = 0;  // with a 95 % confidence interval
};

// Labels that the page has tables of: all, or the most frequent ones.
inline constexpr Index most_labels_shown = 30;

struct Decision {
  std::string output, sentence;    // the output, and the reason for the choice
  std::vector<std::string> facts;  // about the data and how they were divided
  Index examples = 0;              // examples in the training data
  std::vector<Index> counts;       // count of each label in the training data
  std::vector<std::string> warnings, comparisons;
  std::string metric;
  std::vector<CandidateRow> candidates;
  TaskData data;        // data that the candidates were compared on
  TaskGuesses guesses;  // predictions of the chosen candidate
  data::LabelSet labels;
  std::vector<CurvePoint> curve;                                 // in ascending order; empty: not known
  std::vector<std::pair<Index, std::vector<WordWeight>>> words;  // for the labels that are shown; empty: not known
};

// Labels that the page has tables of, in ascending order.
std::vector<Index> shown_labels(const Decision& decision);

// Throws DataError where the file cannot be written.
void write_decision_page(const std::string& path, const Decision& decision);

}  // namespace heddle
