#include "tools/tasks/task_data.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "formats/heddle/file.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/data/folds.hpp"
#include "libcore/data/graph_parts.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/tasks/graph_data.hpp"
#include "tools/tasks/label_sets.hpp"

namespace heddle {

namespace {

using models::Answer;
using models::Answered;
using models::Task;

Index line_of(const data::TaggedSentence& sentence) {
  return sentence.lines.front();
}
template <class Example>
Index line_of(const Example& example) {
  return example.line;
}

template <class Example>
std::string place_of(const Example& example, const std::string& file) {
  return concatenate(file, ":", line_of(example));
}
std::string place_of(const data::SpanQuestion& question, const std::string& file) {
  return concatenate(file, ": question ", text::quoted(question.id));
}

template <class Example>
std::vector<Example> at_places(const std::vector<Example>& all, const std::vector<Index>& places) {
  std::vector<Example> result;
  for (const Index place : places) result.push_back(all[static_cast<std::size_t>(place)]);
  return result;
}

// Makes bad records of the examples of which use() throws DataError or TextError, and removes them.
template <class Example, class Use>
void reject(std::vector<Example>& examples, const std::string& file, formats::BadRecords& bad, const Use& use) {
  std::erase_if(examples, [&](const Example& example) {
    return !bad.attempt_again(line_of(example), [&] {
      try {
        use(example);
      } catch (const text::TextError& error) {
        throw DataError(concatenate(place_of(example, file), ": ", error.reason()));
      }
    });
  });
}

// For tasks of numbers, rejects labels that are not numbers.
void reject_other_labels(TaskData& data, formats::BadRecords& bad) {
  reject(data.texts, data.file, bad, [&](const data::LabelledText& text) {
    data::numeric_labels({&text, 1}, data.file);
  });
}

void reject_without_tokens(TaskData& data, const std::vector<const text::Tokenizer*>& tokenizers,
                           formats::BadRecords& bad) {
  for (const text::Tokenizer* const tokenizer : tokenizers) {
    const auto encode = [&](std::string_view text) { (void)tokenizer->encode(text, text::SpecialText::plain); };
    reject(data.texts, data.file, bad, [&](const data::LabelledText& example) {
      encode(example.text);
      encode(example.second_text.value_or(""));
    });
    reject(data.sentences, data.file, bad,
           [&](const data::TaggedSentence& sentence) { data::align_words(*tokenizer, sentence.words); });
    reject(data.questions, data.file, bad, [&](const data::SpanQuestion& question) {
      encode(question.question);
      (void)tokenizer->encode_with_offsets(*question.context, text::SpecialText::plain);
    });
  }
}

// Sets the usual separator if none is known.
formats::LabelledInput with_separator(const TaskInput& input) {
  formats::LabelledInput labelled = input.labelled;
  if (has_label_sets(input.task) && !labelled.columns.separator) labelled.columns.separator = ";";
  return labelled;
}

}  // namespace

TaskData chosen(const TaskData& data, const std::vector<Index>& places) {
  TaskData part{.file = data.file, .texts = {}, .sentences = {}, .questions = {}};
  part.graphs = data.graphs;
  part.level = data.level;
  part.columns = data.columns;
  part.side = data.side;
  if (!data.texts.empty()) part.texts = at_places(data.texts, places);
  if (!data.sentences.empty()) part.sentences = at_places(data.sentences, places);
  if (!data.questions.empty()) part.questions = at_places(data.questions, places);
  return part;
}

TaskReader::TaskReader(std::string_view file, const TaskInput& input) : input_(input) {
  if (answered_by(input.task) == Answered::whole || has_own_head(input.task))
    texts_.emplace(file, with_separator(input), input.texts, input.gold);
}

formats::BadRecords TaskReader::bad_records(std::string_view file) const {
  return formats::BadRecords(file, input_.labelled.bad_records, input_.may_leave_out ? "--bad-records skip" : "");
}

TaskData TaskReader::read(std::string_view content, const formats::Place& begin) {
  formats::BadRecords bad = bad_records(begin.file);
  TaskData data = read(content, begin, bad);
  bad.check();
  return data;
}

TaskData TaskReader::read(std::string_view content, const formats::Place& begin, formats::BadRecords& bad) {
  TaskData data{.file = std::string(begin.file), .texts = {}, .sentences = {}, .questions = {}};
  switch (answered_by(input_.task)) {
    case Answered::parts:
      data.sentences = read_tagged_sentences(content, begin, input_.labelled, input_.gold, bad);
      break;
    case Answered::place:
      data.questions = read_span_questions(content, begin, input_.labelled, input_.gold, bad);
      break;
    default:
      data.texts = texts_->read(content, begin, bad);
      if (answer_of(input_.task) == Answer::number && input_.gold == formats::Gold::given)
        reject_other_labels(data, bad);
      break;
  }
  if (bad.are_left_out()) reject_without_tokens(data, input_.tokenizers, bad);
  data.left_out = bad.all();
  return data;
}

cli::Input open_labelled(const std::string& path, const formats::LabelledInput& input,
                         const cli::Arguments& arguments) {
  const std::string remedy = concatenate("--format ", to_text(input.format.kind()),
                                         ":encoding=windows-1252 reads it, if that is its encoding (or latin1, ...)");
  return arguments.open_text(path, {input.format.encoding(), remedy});
}

TaskData read_task_data(const std::string& path, const TaskInput& input, const cli::Arguments& arguments,
                        const UseTaskData& use) {
  if (formats::is_file_of(path, formats::FileKind::graphs)) return read_graphs(path, input);
  cli::Input source = open_labelled(path, input.labelled, arguments);
  return read_task_content(cli::read_all(source), source.name(), input, arguments, use);
}

TaskData read_task_content(std::string_view content, const std::string& file, const TaskInput& input,
                           const cli::Arguments& arguments, const UseTaskData& use) {
  TaskReader reader(file, input);
  formats::BadRecords bad = reader.bad_records(file);
  TaskData data = reader.read(content, file, bad);
  use(data, bad);
  bad.check();
  if (const auto note = bad.note()) arguments.warn(*note);
  return data;
}

void append(TaskData& all, const TaskData& more) {
  all.texts.insert(all.texts.end(), more.texts.begin(), more.texts.end());
  all.sentences.insert(all.sentences.end(), more.sentences.begin(), more.sentences.end());
  all.questions.insert(all.questions.end(), more.questions.begin(), more.questions.end());
}

TaskData joined(const std::vector<TaskData>& files) {
  TaskData all{.file = {}, .texts = {}, .sentences = {}, .questions = {}};
  std::vector<std::string> names;
  for (const TaskData& file : files) {
    names.push_back(file.file);
    append(all, file);
  }
  all.file = join(names);
  if (files.front().graphs != nullptr) join_graphs(all, files);
  return all;
}

namespace {

// Other nodes of a graph are other examples; other labels of it are not, nor is an edge or pair the other way round.
void add_units_of_graphs(const TaskData& data, std::vector<data::Unit>& units) {
  const std::vector<Index> numbers = graph_numbers(data);
  Index known = -1;  // the parts of a graph follow one another
  std::uint64_t of_graph = 0;
  std::vector<data::NodePair> ends;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != known) {
      const data::GraphRecord record = data.graphs->record(numbers[i]);
      of_graph = data::key_of(record);
      ends = data::ends_of_items(record.graph, data.level);
    }
    known = numbers[i];
    if (!data.columns.empty() || data.sentences.empty()) {
      units.push_back({.key = of_graph});
      continue;
    }
    data::ContentKey key;
    key.add(of_graph);
    for (const Index part : data.sentences[i].parts) {
      const auto at = static_cast<std::size_t>(part);
      key.add(ends.empty() ? static_cast<std::uint64_t>(part)
                           : data::key_of_ends(ends[at], data.graphs->schema().is_directed));
    }
    units.push_back({.key = key.value()});
  }
}

// Other texts have one label each.
bool have_label_sets(const TaskData& data) {
  return !data.texts.empty() && std::ranges::all_of(data.texts, &std::string::empty, &data::LabelledText::label);
}

// The class of each example that has one: of a text, or of a part of a single graph. None for others.
std::vector<Index> classes_of(const TaskData& data) {
  if (have_label_sets(data)) return rarest_labels(data, labels_in(data, Task::multilabel));
  if (data.sentences.empty()) return gold_labels(data, labels_in(data, Task::classify));
  const data::LabelSet labels = labels_in(data, Task::label);
  std::vector<Index> classes;
  for (const data::TaggedSentence& sentence : data.sentences) {
    if (data.graphs == nullptr || sentence.tags.size() != 1) return {};
    classes.push_back(labels.find(sentence.tags.front()).value_or(0));
  }
  return classes;
}

// The units with their classes. Classes with fewer different examples than folds are distributed with the first class
// of all, since they cannot be in every fold.
std::vector<data::Unit> with_classes(std::vector<data::Unit> units, const std::vector<Index>& classes, Index folds) {
  std::map<Index, std::set<std::uint64_t>> keys;
  for (std::size_t i = 0; i < units.size(); ++i) keys[classes[i]].insert(units[i].key);
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i].label = std::ssize(keys[classes[i]]) < folds ? 0 : classes[i] + 1;
  }
  return units;
}

}  // namespace

std::vector<Index> fold_numbers(const TaskData& data, Index folds, std::uint64_t seed) {
  // Only classes are stratified; sentences, numbers and questions are distributed in order.
  std::vector<Index> kinds(static_cast<std::size_t>(data.size()), 0);
  const Task task = have_label_sets(data) ? Task::multilabel : data.sentences.empty() ? Task::classify : Task::label;
  const data::LabelSet labels = labels_in(data, task);
  const bool are_classes = data.questions.empty() && !classes_of(data).empty();
  if (are_classes && labels.size() <= data.size() / folds) kinds = classes_of(data);
  if (data.graphs != nullptr) return data::stratified_folds(kinds, folds, seed);
  const std::vector<data::Unit> units = units_of(data);
  const Index different = different_examples(data);
  check<DataError>(different >= folds, data.file, ": ",
                   counted(different, "different example is", "different examples are"), " not enough for ", folds,
                   " folds");
  if (different == std::ssize(units)) return data::stratified_folds(kinds, folds, seed);
  return data::grouped_parts(with_classes(units, kinds, folds), std::vector<Index>(static_cast<std::size_t>(folds), 1),
                             seed);
}

Index different_examples(const TaskData& data) {
  std::set<std::uint64_t> keys;
  for (const data::Unit& unit : units_of(data)) keys.insert(unit.key);
  return std::ssize(keys);
}

TaskData part_of(const TaskData& data, const Fold& fold, Side side) {
  if (fold.folds == 0) return data;
  if (is_one_graph(data)) return with_parts_together(part_of(with_parts_apart(data), fold, side));
  check<UsageError>(fold.fold <= fold.folds, "--fold ", fold.fold, ": there are ", fold.folds, " folds");
  const std::vector<Index> folds = fold_numbers(data, fold.folds, fold.seed);
  const std::vector<Index> places =
      side == Side::inside ? data::inside_part(folds, fold.fold - 1) : data::outside_part(folds, fold.fold - 1);
  return chosen(data, places);
}

std::vector<data::Unit> units_of(const TaskData& data) {
  std::vector<data::Unit> units;
  if (data.graphs != nullptr) {
    add_units_of_graphs(data, units);
    return units;
  }
  for (const data::LabelledText& example : data.texts) {
    data::ContentKey key;
    key.add(text::stripped(example.shown()));
    if (example.second_text) key.add(text::stripped(*example.second_text));
    units.push_back({.key = key.value()});
  }
  for (const data::TaggedSentence& sentence : data.sentences) {
    data::ContentKey key;
    for (const std::string& word : sentence.words) key.add(word);
    units.push_back({.key = key.value()});
  }
  const std::string* known = nullptr;  // questions about one context follow one another
  for (const data::SpanQuestion& question : data.questions) {
    if (question.context.get() == known) {
      units.push_back(units.back());
      continue;
    }
    known = question.context.get();
    units.push_back({.key = data::ContentKey().add(text::stripped(*known)).value()});
  }
  return units;
}

std::vector<Index> text_keys_of(const TaskData& data) {
  std::set<std::uint64_t> keys;
  for (const data::Unit& unit : units_of(data)) keys.insert(unit.key);
  std::vector<Index> least;
  for (const std::uint64_t key : keys) {
    if (least.size() == most_text_keys) break;
    least.push_back(static_cast<Index>(key));
  }
  return least;
}

HeldOutData hold_out(const std::vector<TaskData>& files, Task task, data::Fraction fraction) {
  if (files.size() == 1 && is_one_graph(files.front())) {
    HeldOutData split = hold_out({with_parts_apart(files.front())}, task, fraction);
    for (std::vector<TaskData>* side : {&split.train, &split.valid}) {
      side->front() = with_parts_together(std::move(side->front()));
    }
    return split;
  }
  const TaskData all = joined(files);
  std::vector<data::Unit> units = units_of(all);
  const std::vector<Index> classes = has_labels(task) ? classes_of(all) : std::vector<Index>();
  const data::LabelSet labels = classes.empty() ? data::LabelSet() : labels_in(all, task);
  const double expected = static_cast<double>(all.size()) * static_cast<double>(fraction.millionths) / 1e6;
  if (labels.size() > 0 && static_cast<double>(labels.size()) <= expected) {
    for (std::size_t i = 0; i < units.size(); ++i) units[i].label = classes[i];
  }
  const std::vector<bool> is_valid = data::held_out(units, fraction);
  const auto count = std::ranges::count(is_valid, true);
  check<DataError>(count > 0 && count < all.size(), all.file, ": ", counted(all.size(), "example is", "examples are"),
                   " too few, or too many of one text, to hold out ", static_cast<double>(fraction.millionths) / 1e4,
                   "% for validation; give more examples, or --valid FILE");
  HeldOutData split;
  for (std::size_t before = 0; const TaskData& file : files) {
    std::vector<Index> train, valid;
    for (Index i = 0; i < file.size(); ++i)
      (is_valid[before + static_cast<std::size_t>(i)] ? valid : train).push_back(i);
    split.train.push_back(chosen(file, train));
    split.valid.push_back(chosen(file, valid));
    before += static_cast<std::size_t>(file.size());
  }
  return split;
}

data::LabelSet labels_in(const TaskData& data, Task task) {
  if (has_label_sets(task)) return data::labels_in_sets_of(data.texts);
  if (!has_classes(task)) return {};
  return answered_by(task) == Answered::parts ? data::labels_of(data.sentences) : data::labels_of(data.texts);
}

data::LabelSet with_labels_in(const TaskData& data, Task task, const data::LabelSet& labels) {
  std::vector<std::string> names = labels.names();
  const data::LabelSet of_data = labels_in(data, task);
  for (const std::string& name : of_data.names()) {
    if (!labels.find(name)) names.push_back(name);
  }
  return data::LabelSet(std::move(names));
}

std::vector<Index> label_counts_in(const TaskData& data, Task task, const data::LabelSet& labels) {
  std::vector<Index> ids;
  const auto add = [&](const std::string& name) {
    if (const auto id = labels.find(name)) ids.push_back(*id);
  };
  if (has_label_sets(task)) {
    for (const data::LabelledText& text : data.texts) std::ranges::for_each(text.labels, add);
  } else if (answered_by(task) != Answered::parts) {
    for (const data::LabelledText& text : data.texts) add(text.label);
  }
  for (const data::TaggedSentence& sentence : data.sentences) std::ranges::for_each(sentence.tags, add);
  return data::label_counts(ids, labels);
}

std::vector<double> gold_numbers(const TaskData& data) {
  return data::numeric_labels(data.texts, data.file);
}

std::vector<Index> gold_labels(const TaskData& data, const data::LabelSet& labels) {
  return data::label_ids(data.texts, labels, data.file);
}

namespace {

// For each label 1 if the text has it, else 0.
std::vector<TokenId> label_flags(const data::LabelledText& text, const data::LabelSet& labels) {
  std::vector<TokenId> flags(static_cast<std::size_t>(labels.size()), 0);
  for (const std::string& name : text.labels) {
    if (const auto id = labels.find(name)) flags[static_cast<std::size_t>(*id)] = 1;
  }
  return flags;
}

}  // namespace

std::vector<data::TaskExample> encode_task(const TaskData& data, const EncodeTask& encoding,
                                           data::OverlongTexts& overlong) {
  if (answered_by(encoding.task) == Answered::parts) {
    return data::tag_examples(data.sentences, data.file, encoding.labels, encoding.tokenizer, encoding.framing,
                              overlong);
  }
  if (answer_of(encoding.task) == Answer::span) {
    return data::span_examples(data.questions, data.file, encoding.tokenizer, encoding.framing, overlong);
  }
  auto examples = data::text_examples(data.texts, data.file, encoding.tokenizer, encoding.framing, overlong);
  if (encoding.gold == formats::Gold::absent) return examples;
  if (answer_of(encoding.task) == Answer::number) {
    const std::vector<double> numbers = gold_numbers(data);
    for (data::TaskExample& example : examples) example.value = numbers[static_cast<std::size_t>(example.source)];
    return examples;
  }
  if (has_label_sets(encoding.task)) {
    for (data::TaskExample& example : examples)
      example.tags = label_flags(data.texts[static_cast<std::size_t>(example.source)], encoding.labels);
    return examples;
  }
  for (data::TaskExample& example : examples) {
    const std::string& label = data.texts[static_cast<std::size_t>(example.source)].label;
    example.label = static_cast<TokenId>(encoding.labels.find(label).value_or(-1));
  }
  return examples;
}

std::string overlong_note(const data::OverlongTexts& overlong, Task task) {
  if (answer_of(task) == Answer::span) {
    return counted(overlong.count, "question was", "questions were") +
           " longer than half of the context, and truncated";
  }
  return concatenate(counted(overlong.count, "text was", "texts were"), " longer than the context, and ",
                     overlong.treatment == data::Overlong::split ? "split" : "truncated");
}

}  // namespace heddle
