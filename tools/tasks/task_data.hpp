// The examples of labelled files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/labelled_input.hpp"
#include "libcore/data/held_out.hpp"
#include "libcore/data/task_examples.hpp"
#include "libcore/models/task.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// The examples of one file: those of the task's kind.
struct TaskData {
  std::string file;
  std::vector<data::LabelledText> texts;
  std::vector<data::TaggedSentence> sentences;
  std::vector<data::SpanQuestion> questions;
  std::vector<formats::BadRecord> left_out{};
  // From a graphs file: example n is the graph whose number is the example's line - 1.
  std::shared_ptr<const data::GraphSource> graphs{};
  data::GraphLevel level = data::GraphLevel::graph;  // graphs: level of the labels
  std::vector<std::string> columns{};                // graphs: several labels for each, treated as words of a sentence
  std::vector<std::string> label_names{};            // graphs: columns of the labels
  data::SplitSide side = data::SplitSide::none;      // graphs: side of the file's own split

  Index size() const { return static_cast<Index>(texts.size() + sentences.size() + questions.size()); }
};

struct TaskInput {
  formats::LabelledInput labelled;
  models::Task task = models::Task::classify;
  formats::Texts texts = formats::Texts::one;
  formats::Gold gold = formats::Gold::given;
  bool may_leave_out = true;  // an error says how bad records are left out
  // When bad records are left out, so are records for which one of these has no tokens.
  std::vector<const text::Tokenizer*> tokenizers{};
  data::SplitSide side = data::SplitSide::none;  // graphs whose file splits them: examples of this side; none: all
  std::vector<std::string> columns{};            // graphs: labels that each must have; none: any
  std::optional<data::GraphLevel>
      level{};  // graphs: level that must have labels, or gets answers; none: the labelled one
};

// Reads the examples of a file, perhaps in parts. Throws DataError, for bad records too unless they are left out, and
// UsageError as the readers of its format do.
class TaskReader {
 public:
  TaskReader(std::string_view file, const TaskInput& input);

  // The examples of whole lines or rows, the first of which is at `begin`.
  TaskData read(std::string_view content, const formats::Place& begin);
  // The same, without an error for bad records.
  TaskData read(std::string_view content, const formats::Place& begin, formats::BadRecords& bad);
  formats::BadRecords bad_records(std::string_view file) const;
  // The format of texts; automatic for other tasks.
  formats::LabelledFormat text_format() const { return texts_ ? texts_->format() : formats::LabelledFormat::automatic; }

 private:
  TaskInput input_;
  std::optional<formats::LabelledTextReader> texts_;
};

// A labelled file, in the encoding that its format says.
cli::Input open_labelled(const std::string& path, const formats::LabelledInput& input, const cli::Arguments& arguments);

// Reads a whole file, or its content, and warns where bad records are left out. Throws as TaskReader does. use() may
// find further bad records among the examples.
using UseTaskData = std::function<void(const TaskData& data, formats::BadRecords& bad)>;
inline void use_as_read(const TaskData& /*data*/, formats::BadRecords& /*bad*/) {}
TaskData read_task_data(const std::string& path, const TaskInput& input, const cli::Arguments& arguments,
                        const UseTaskData& use = use_as_read);
TaskData read_task_content(std::string_view content, const std::string& file, const TaskInput& input,
                           const cli::Arguments& arguments, const UseTaskData& use = use_as_read);

// Appends the examples of `more` to those of `all`.
void append(TaskData& all, const TaskData& more);
// The examples of several files as one.
TaskData joined(const std::vector<TaskData>& files);

// The examples of one kind at these places.
TaskData chosen(const TaskData& data, const std::vector<Index>& places);

// The fold, from 0, that tests each example. Copies of texts (units_of) are in one fold, folds are of equal size to
// within a few such groups, and each has as much of each class. Throws DataError for fewer different examples than
// folds.
std::vector<Index> fold_numbers(const TaskData& data, Index folds, std::uint64_t seed);

// How many examples there are without copies.
Index different_examples(const TaskData& data);

// One of those folds, or all the others.
struct Fold {
  Index folds = 0, fold = 1;  // the number of the part, from 1, of the parts; 0 folds: everything
  std::uint64_t seed = 0;
};
enum class Side { inside, outside };
TaskData part_of(const TaskData& data, const Fold& fold, Side side);

// The key of each example: of its text or texts, its words, the context of its question, without white space at their
// ends, or of its graph, without labels. Copies have the same.
std::vector<data::Unit> units_of(const TaskData& data);
// Keys stored in a model (models::TaskConfig::text_keys): the most_text_keys smallest ones (unsigned), or all if there
// are fewer.
inline constexpr std::size_t most_text_keys = 65536;
std::vector<Index> text_keys_of(const TaskData& data);

// Splits the examples into those to train on and those held out for validation: the fraction of each class if that
// gives most classes an example, else of all examples. All examples with one text (or pair of texts, sentence, context
// of questions) are on the same side. Depends on the examples and the fraction alone. Throws DataError if a side would
// be empty.
struct HeldOutData {
  std::vector<TaskData> train, valid;
};
HeldOutData hold_out(const std::vector<TaskData>& files, models::Task task, data::Fraction fraction);

// The labels that occur; none where the task has no classes.
data::LabelSet labels_in(const TaskData& data, models::Task task);

// The labels and, after them, those of the data that are others: an evaluation takes these for classes that no model
// predicts.
data::LabelSet with_labels_in(const TaskData& data, models::Task task, const data::LabelSet& labels);

// Frequency of each label, in order of ids; other labels are not counted.
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
// Examples with labels that are none of the set have -1 for theirs.
std::vector<data::TaskExample> encode_task(const TaskData& data, const EncodeTask& encoding,
                                           data::OverlongTexts& overlong);

// The message about examples that were too long. Precondition: there is at least one.
std::string overlong_note(const data::OverlongTexts& overlong, models::Task task);

}  // namespace heddle
