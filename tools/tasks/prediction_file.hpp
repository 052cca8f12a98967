// Files of predictions: each example with its gold label and the model's answer.
#pragma once

#include <ostream>
#include <string>

#include "tools/tasks/task_answers.hpp"

namespace heddle {

enum class PredictionFormat { tsv, jsonl };
// By the ending of the file's name, that of -o. Throws UsageError for other endings; `mode` is the option that makes
// -o take predictions.
PredictionFormat prediction_format(const std::string& path, const std::string& mode = "--evaluate");

struct PredictionOptions {
  PredictionFormat format = PredictionFormat::tsv;
  double threshold = 0;        // classes; less probable ones are no prediction
  double null_threshold = 0;   // threshold of null answers
  std::vector<Index> folds{};  // fold of each example, from 0, for a last column `fold`, from 1; empty: none
};

// In the order of the examples. TSV has a header, and its fields are escaped (escaped.hpp); an empty field stands for
// no prediction, in JSON null. Columns, and members of the objects:
//   texts:      text, text_b of pairs, gold, predicted, probability of the predicted class (none for numbers); where a
//               text has any number of labels, these (TSV: with ";" between them; JSON: lists), and in JSON the
//               probability of every label under its name, `probabilities`
//   sentences:  TSV: sentence (its number, from 1), word, gold, predicted, probability; JSON: words, and lists of the
//               others
//   questions:  id, question, gold (TSV: the answers, with " | " between them; JSON: a list), predicted, score
// Objects begin with the members of the input's objects that were not read, as they were spelled, but for those that
// have one of these names.
void write_predictions(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                       const TaskGuesses& guesses, const PredictionOptions& options);

}  // namespace heddle
