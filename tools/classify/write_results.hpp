// The output of classify.
#pragma once

#include <ostream>

#include "tools/lines/input_texts.hpp"
#include "tools/tasks/task_answers.hpp"

namespace heddle {

// A text of the input, and the examples in it.
struct ReadText {
  InputText input;
  TaskData data;
};
TaskData joined_texts(const std::vector<ReadText>& texts);

struct WriteOptions {
  Index top = 1;
  bool has_top = false;  // whether `top` was asked for
  bool raw = false;
  bool jsonl = false;
  double threshold = 0;
  double null_threshold = 0;
  bool words = false;  // tags: lines of words, whatever the format of the input
};

// jsonl: texts and questions keep the members of the input's objects that were not read (object_line.hpp).

// One line per text: LABEL TAB PROBABILITY of the most probable labels, best first, as far as their probabilities reach
// the threshold; if none does, an empty label and the highest probability. With jsonl one object per text: text, label
// (null below the threshold), probability, and top with all printed labels.
void write_classes(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                   const std::vector<std::vector<double>>& classes, const WriteOptions& options);

// One line per text: LABEL TAB PROBABILITY of each label whose probability reaches its threshold, or `threshold` if
// that is above 0, most probable first; an empty line if none does. With `top`, that number of labels, whatever their
// thresholds. With jsonl one object per text: text, labels, and probabilities, of all labels, or of the `top` ones.
void write_label_sets(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                      const LabelProbabilities& found, const WriteOptions& options);

// One line per text: the predicted number.
void write_numbers(std::ostream& out, const TaskData& data, const std::vector<double>& numbers,
                   const WriteOptions& options);

// Every input line unchanged, with TAB TAG appended to lines of words; the tag is _ for words without a prediction.
// With `words`, WORD TAB TAG for each word, and an empty line after each sentence. With jsonl one object per sentence,
// with null for words without a prediction.
void write_tags(std::ostream& out, const std::vector<ReadText>& texts, const TaskData& data,
                const data::LabelSet& labels, const TaskAnswers& answers, const WriteOptions& options);

// Writes the parts of graphs: a line for each node or edge, GRAPH TAB NAME TAB LABEL TAB PROBABILITY, with the number
// of the graph from 1. With jsonl one object per graph.
void write_parts(std::ostream& out, const TaskData& data, const data::LabelSet& labels, const TaskAnswers& answers,
                 const WriteOptions& options);

// --raw: a line for each word, WORD TAB BEGIN TAB END TAB TAG, with offsets in characters of the line, and an empty
// line after each line of the input. With jsonl one object per line: text, words, tags, begins and ends. `texts` and
// the sentences correspond.
void write_raw_tags(std::ostream& out, const std::vector<ReadText>& texts, const TaskData& data,
                    const data::LabelSet& labels, const TaskAnswers& answers, const WriteOptions& options);

// The sentence of a line of plain text.
data::TaggedSentence raw_sentence(const InputText& line);

// One line per question: ID, and for each of the best answers TAB ANSWER TAB BEGIN TAB END TAB SCORE, with offsets in
// characters of the context; the fields are empty for "no answer". IDs and answers are escaped (escaped.hpp). With
// jsonl one object per question.
void write_answers(std::ostream& out, const TaskData& data, const TaskAnswers& answers, const WriteOptions& options);

}  // namespace heddle
