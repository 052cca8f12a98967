// What classify prints of its answers.
#pragma once

#include <ostream>

#include "tools/lines/text_reader.hpp"
#include "tools/tasks/answers.hpp"

namespace heddle {

// A text of the input, and the examples in it.
struct ReadText {
  InputText input;
  TaskData data;
};
TaskData joined_texts(const std::vector<ReadText>& texts);

struct WriteOptions {
  Index top = 1;
  bool jsonl = false;
  double threshold = 0;
  double null_threshold = 0;
};

// A line a text: LABEL TAB PROBABILITY, and so on for the next most likely ones, as far as probabilities reach the
// threshold; where none does, an empty label and the probability of the most likely one. With jsonl an object with
// text, label (null where the probability does not reach the threshold), probability, and top, which has all.
void write_classes(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                   const std::vector<std::vector<double>>& classes, const WriteOptions& options);

// A line a text: the number.
void write_numbers(std::ostream& out, const TaskData& data, const std::vector<double>& numbers,
                   const WriteOptions& options);

// Every line of the texts as it is, with TAB TAG added to those of words, _ for words that got none; with jsonl an
// object a sentence, with null for these.
void write_tags(std::ostream& out, const std::vector<ReadText>& texts, const TaskData& data,
                const data::LabelSet& labels, const TaskAnswers& answers, const WriteOptions& options);

// A line a question: ID TAB ANSWER TAB BEGIN TAB END TAB SCORE, in characters of the context, for the best answers; no
// answer is an empty one. IDs and answers are escaped (escaped.hpp). With jsonl an object a question.
void write_answers(std::ostream& out, const TaskData& data, const TaskAnswers& answers, const WriteOptions& options);

}  // namespace heddle
