// Labelled files as tasks use them.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/streams.hpp"
#include "heddle/data/task_examples.hpp"
#include "heddle/formats/labelled/labelled_input.hpp"
#include "heddle/models/task.hpp"

namespace heddle {

// The examples of one file: those of the task's kind.
struct TaskData {
  std::string file;
  std::vector<data::LabelledText> texts;
  std::vector<data::TaggedSentence> sentences;
  std::vector<data::SpanQuestion> questions;

  Index size() const { return static_cast<Index>(texts.size() + sentences.size() + questions.size()); }
};

struct TaskInput {
  formats::LabelledInput labelled;
  models::Task task = models::Task::classify;
  formats::Texts texts = formats::Texts::one;
  formats::Gold gold = formats::Gold::given;
};

// All of the source. Throws DataError and UsageError as the readers do.
TaskData read_task_data(cli::Input source, const TaskInput& input);
// Of whole lines of a file, the first of which is at `begin`.
TaskData parse_task_data(std::string_view content, const formats::Place& begin, const TaskInput& input);

// The examples of several files, as of one.
TaskData joined(const std::vector<TaskData>& files);

// One of K equal parts of the examples, or all but it.
struct Fold {
  Index folds = 0, fold = 0;  // 0 folds: everything
  std::uint64_t seed = 0;
};
enum class Side { inside, outside };
TaskData part_of(const TaskData& data, const Fold& fold, Side side);

// The labels that occur; none where the task has no classes.
data::LabelSet labels_in(const TaskData& data, models::Task task);

// How often each label occurs, in order of ids. Throws DataError for unknown ones.
std::vector<Index> label_counts_in(const TaskData& data, models::Task task, const data::LabelSet& labels);

// Gold numbers or label ids of texts.
std::vector<double> gold_numbers(const TaskData& data);
std::vector<Index> gold_labels(const TaskData& data, const data::LabelSet& labels);

struct EncodeTask {
  models::Task task;
  const data::LabelSet& labels;
  const text::Tokenizer& tokenizer;
  const data::Framing& framing;
  formats::Gold gold;
};
std::vector<data::TaskExample> encode_task(const TaskData& data, const EncodeTask& with, data::OverlongTexts& overlong);

// What a tool says of examples that were too long, of which there is one at least.
std::string overlong_note(const data::OverlongTexts& overlong, models::Task task);

}  // namespace heddle
