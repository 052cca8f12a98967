// What classify prints of its answers.
#pragma once

#include <ostream>

#include "tools/lines/input_parts.hpp"
#include "tools/tasks/answers.hpp"

namespace heddle {

struct WriteOptions {
  Index top = 1;
  bool jsonl = false;
  double null_threshold = 0;
};

// A line a text: LABEL TAB PROBABILITY, and so on for the next most likely ones; with jsonl an object with text, label,
// probability and top.
void write_classes(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                   const std::vector<std::vector<double>>& classes, const WriteOptions& options);

// A line a text: the number.
void write_numbers(std::ostream& out, const TaskData& data, const std::vector<double>& numbers,
                   const WriteOptions& options);

// Every line of the part as it is, with TAB TAG added to those of words, _ for words that got none; with jsonl an
// object a sentence, with null for these.
void write_tags(std::ostream& out, const InputPart& part, const TaskData& data, const data::LabelSet& labels,
                const TaskAnswers& answers, const WriteOptions& options);

// A line a question: ID TAB ANSWER TAB BEGIN TAB END TAB SCORE, in characters of the context, for the best answers; no
// answer is an empty one. IDs and answers are escaped (escaped.hpp). With jsonl an object a question.
void write_answers(std::ostream& out, const TaskData& data, const TaskAnswers& answers, const WriteOptions& options);

}  // namespace heddle
