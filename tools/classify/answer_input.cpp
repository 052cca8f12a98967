#include <numeric>

#include "formats/heddle/file.hpp"
#include "tools/classify/answerer.hpp"
#include "tools/classify/input_watch.hpp"
#include "tools/classify/write_results.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/graph_data.hpp"

namespace heddle {

namespace {

using models::Answer;
using models::Answered;
using models::Task;

TextUnit unit_of(Task task, const std::string& path, const ClassifyOptions& options, formats::LabelledFormat format) {
  if (options.raw) return TextUnit::line;
  if (answered_by(task) == Answered::parts) {
    if (format == formats::LabelledFormat::csv) return TextUnit::document;
    return format == formats::LabelledFormat::jsonl ? TextUnit::json : TextUnit::paragraph;
  }
  const bool has_quotes = options.input.format.syntax().quote.value_or(0) != 0;
  if (format == formats::LabelledFormat::csv || (format == formats::LabelledFormat::tsv && has_quotes))
    return TextUnit::row;
  if (answer_of(task) == Answer::span) format = formats::span_format(path, options.input);
  if (format == formats::LabelledFormat::squad) return TextUnit::document;
  return format == formats::LabelledFormat::jsonl ? TextUnit::json : TextUnit::line;
}

// Quotes and separators of a table.
RowMarks marks_of(const formats::TableSyntax& syntax, formats::LabelledFormat format) {
  const bool is_csv = format == formats::LabelledFormat::csv;
  RowMarks marks;
  marks.quote = syntax.quote.value_or(is_csv ? '"' : '\0');
  if (!is_csv) marks.separators = "\t";
  if (syntax.separator) marks.separators = {*syntax.separator};
  return marks;
}

void write_results(std::ostream& out, const std::vector<ReadText>& texts, const TaskData& data,
                   const Answerer& answerer, const TaskAnswers& answers, const WriteOptions& write_options) {
  const data::LabelSet& labels = answerer.labels();
  const Task task = answerer.task().task;
  if (answered_by(task) == Answered::parts) {
    return write_options.raw ? write_raw_tags(out, texts, data, labels, answers, write_options)
                             : write_tags(out, texts, data, labels, answers, write_options);
  }
  switch (answer_of(task)) {
    case Answer::number:
      return write_numbers(out, data, answers.numbers, write_options);
    case Answer::labels:
      return write_label_sets(out, data, labels, answers.labels, write_options);
    case Answer::span:
      return write_answers(out, data, answers, write_options);
    default:
      return write_classes(out, data, labels, answers.classes, write_options);
  }
}

}  // namespace

namespace {

void answer_graphs(Answerer& answerer, const std::string& path, const TaskInput& input,
                   const WriteOptions& write_options, cli::Output& output) {
  const TaskData all = read_graphs(path, input);
  constexpr Index graphs_at_once = 4096;
  for (Index begin = 0; begin < all.size(); begin += graphs_at_once) {
    std::vector<Index> places(static_cast<std::size_t>(std::min(graphs_at_once, all.size() - begin)));
    std::iota(places.begin(), places.end(), begin);
    const TaskData data = chosen(all, places);
    const TaskAnswers answers = answerer.answer(data);
    if (answered_by(input.task) == Answered::parts) {
      write_parts(output.stream(), data, answerer.labels(), answers, write_options);
    } else {
      write_results(output.stream(), {}, data, answerer, answers, write_options);
    }
    output.stream().flush();
  }
}

}  // namespace

void answer_input(Answerer& answerer, const std::string& path, const ClassifyOptions& options,
                  const cli::Arguments& arguments, cli::Output& output) {
  const models::TaskConfig& task = answerer.task();
  WriteOptions write_options{.top = options.top,
                             .has_top = arguments.given("top"),
                             .raw = options.raw,
                             .jsonl = options.jsonl,
                             .threshold = options.threshold,
                             .null_threshold = null_threshold(task, options, arguments)};
  if (formats::is_file_of(path, formats::FileKind::graphs))
    return answer_graphs(answerer, path, input_of(task, options), write_options, output);
  answerer.check_reads_texts(path);
  cli::Input input = open_labelled(path, options.input, arguments);
  TaskReader reader(input.name(), input_of(task, options));
  const bool are_words = answered_by(task.task) == Answered::parts && !options.raw;
  const formats::LabelledFormat format =
      are_words ? formats::sentence_format(path, options.input) : reader.text_format();
  write_options.words = format == formats::LabelledFormat::csv || format == formats::LabelledFormat::jsonl;
  const TextUnit unit = unit_of(task.task, path, options, format);
  const bool are_lines = unit == TextUnit::line || unit == TextUnit::json;
  const std::string line_end = are_lines ? "\n" : "";  // an empty line consists of it
  // About 64 batches of tokens for each rank, within which texts are sorted by length.
  const Index bytes_per_token = 256 * parallel::dividing().size();
  const LabelWatch watch(path, task, answerer.labels(), options.input, format);
  bool watches = true;
  const auto read = [&](const InputText& text) {
    std::optional<std::string> warning;
    if (watches) warning = options.raw ? LabelWatch::raw_warning(text) : watch.warning(text);
    ReadText result{text, {.file = text.file, .texts = {}, .sentences = {}, .questions = {}}};
    if (options.raw) {
      result.data.sentences.push_back(raw_sentence(text));
    } else {
      result.data = reader.read(text.text + line_end, {text.file, text.line});
      if (watches && !warning) warning = numbered_words_warning(result.data);
    }
    if (warning) arguments.warn(*warning);
    watches = watches && !warning;
    return result;
  };
  const auto answer = [&](const std::vector<ReadText>& texts) {
    const TaskData data = joined_texts(texts);
    if (data.size() == 0 && answered_by(task.task) != Answered::parts) return;  // a header
    write_results(output.stream(), texts, data, answerer, answerer.answer(data), write_options);
    output.stream().flush();
  };
  const Batching batching{.unit = unit,
                          .bytes = options.batch_tokens * bytes_per_token,
                          .marks = marks_of(options.input.format.syntax(), format)};
  answer_texts(std::move(input), batching, read, answer);
}

}  // namespace heddle
