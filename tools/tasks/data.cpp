#include "tools/tasks/data.hpp"

#include "heddle/data/folds.hpp"

namespace heddle {

namespace {

using models::Task;

template <class Example>
std::vector<Example> chosen(const std::vector<Example>& all, const std::vector<Index>& places) {
  std::vector<Example> result;
  for (const Index place : places) result.push_back(all[static_cast<std::size_t>(place)]);
  return result;
}

}  // namespace

TaskData parse_task_data(std::string_view content, const formats::Place& begin, const TaskInput& input) {
  TaskData data{.file = std::string(begin.file), .texts = {}, .sentences = {}, .questions = {}};
  switch (input.task) {
    case Task::label:
      data.sentences = read_tagged_sentences(content, begin, input.labelled, input.gold);
      break;
    case Task::span:
      data.questions = read_span_questions(content, begin, input.labelled, input.gold);
      break;
    default:
      data.texts = read_labelled_texts(content, begin, input.labelled, input.texts, input.gold);
      break;
  }
  return data;
}

TaskData read_task_data(cli::Input source, const TaskInput& input) {
  const std::string content = cli::read_all(source);
  return parse_task_data(content, source.name(), input);
}

TaskData joined(const std::vector<TaskData>& files) {
  TaskData all{.file = {}, .texts = {}, .sentences = {}, .questions = {}};
  std::vector<std::string> names;
  for (const TaskData& file : files) {
    names.push_back(file.file);
    all.texts.insert(all.texts.end(), file.texts.begin(), file.texts.end());
    all.sentences.insert(all.sentences.end(), file.sentences.begin(), file.sentences.end());
    all.questions.insert(all.questions.end(), file.questions.begin(), file.questions.end());
  }
  all.file = join(names);
  return all;
}

TaskData part_of(const TaskData& data, const Fold& fold, Side side) {
  if (fold.folds == 0) return data;
  check<UsageError>(fold.fold < fold.folds, "--fold = ", fold.fold, " must be less than --folds = ", fold.folds);
  // Only classes are spread evenly; words, numbers and questions are dealt out as they come.
  std::vector<Index> kinds(static_cast<std::size_t>(data.size()), 0);
  const data::LabelSet labels = labels_in(data, Task::classify);
  if (!data.texts.empty() && labels.size() <= data.size() / fold.folds) kinds = gold_labels(data, labels);
  const std::vector<Index> folds = data::stratified_folds(kinds, fold.folds, fold.seed);
  const std::vector<Index> places =
      side == Side::inside ? data::inside_part(folds, fold.fold) : data::outside_part(folds, fold.fold);
  TaskData part{.file = data.file, .texts = {}, .sentences = {}, .questions = {}};
  if (!data.texts.empty()) part.texts = chosen(data.texts, places);
  if (!data.sentences.empty()) part.sentences = chosen(data.sentences, places);
  if (!data.questions.empty()) part.questions = chosen(data.questions, places);
  return part;
}

data::LabelSet labels_in(const TaskData& data, Task task) {
  if (task == Task::label) return data::labels_of(data.sentences);
  return task == Task::classify || task == Task::pair ? data::labels_of(data.texts) : data::LabelSet();
}

std::vector<Index> label_counts_in(const TaskData& data, Task task, const data::LabelSet& labels) {
  if (task != Task::label) return data::label_counts(gold_labels(data, labels), labels);
  std::vector<Index> ids;
  for (const data::TaggedSentence& sentence : data.sentences) {
    const std::vector<Index> tags = data::tag_ids(sentence, labels, data.file);
    ids.insert(ids.end(), tags.begin(), tags.end());
  }
  return data::label_counts(ids, labels);
}

std::vector<double> gold_numbers(const TaskData& data) {
  return data::numeric_labels(data.texts, data.file);
}

std::vector<Index> gold_labels(const TaskData& data, const data::LabelSet& labels) {
  return data::label_ids(data.texts, labels, data.file);
}

std::vector<data::TaskExample> encode_task(const TaskData& data, const EncodeTask& with,
                                           data::OverlongTexts& overlong) {
  if (with.task == Task::label) {
    return data::tag_examples(data.sentences, data.file, with.labels, with.tokenizer, with.framing, overlong);
  }
  if (with.task == Task::span) {
    return data::span_examples(data.questions, data.file, with.tokenizer, with.framing, overlong);
  }
  auto examples = data::text_examples(data.texts, data.file, with.tokenizer, with.framing, overlong);
  if (with.gold == formats::Gold::absent) return examples;
  if (with.task == Task::regress) {
    const std::vector<double> numbers = gold_numbers(data);
    for (data::TaskExample& example : examples) example.value = numbers[static_cast<std::size_t>(example.source)];
    return examples;
  }
  const std::vector<Index> labels = gold_labels(data, with.labels);
  for (data::TaskExample& example : examples) {
    example.label = static_cast<TokenId>(labels[static_cast<std::size_t>(example.source)]);
  }
  return examples;
}

std::string overlong_note(const data::OverlongTexts& overlong, Task task) {
  if (task == Task::span) {
    return counted(overlong.count, "question", "questions") + " took more than half of the context, cut";
  }
  return concatenate(counted(overlong.count, "text was", "texts were"), " longer than the context, and ",
                     overlong.how == data::Overlong::split ? "split" : "cut");
}

}  // namespace heddle
