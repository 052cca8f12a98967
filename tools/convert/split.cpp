#include "tools/convert/split.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "formats/archives/json_archive.hpp"
#include "formats/files/atomic_directory.hpp"
#include "formats/json/node.hpp"
#include "formats/labelled/csv.hpp"
#include "formats/labelled/example_members.hpp"
#include "formats/labelled/fasttext.hpp"
#include "formats/labelled/jsonl.hpp"
#include "formats/labelled/labelled_line.hpp"
#include "formats/labelled/word_table.hpp"
#include "libcore/data/folds.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/label_sets.hpp"

namespace heddle {

namespace {

using formats::LabelledFormat;
using models::Task;

// Whether the first line is an object with this member. Another line is for the reader of the format to refuse.
bool first_object_has(std::string_view content, const std::string& name) {
  try {
    const formats::JsonDocument document(std::string(formats::first_line(content)), "");
    return formats::has_member(formats::JsonNode(document), name);
  } catch (const DataError&) {
    return false;
  }
}

LabelledFormat format_of(const std::string& path, std::string_view content, const formats::LabelledInput& input) {
  const LabelledFormat format = formats::labelled_format(path, input);
  const bool is_json = format == LabelledFormat::squad && input.format.kind() == LabelledFormat::automatic;
  if (is_json && formats::holds_objects(content)) return LabelledFormat::jsonl;
  const bool is_named = input.format.kind() != LabelledFormat::automatic || path.ends_with(ending_of(format));
  return !is_named && !input.columns.any() && formats::is_fasttext(content) ? LabelledFormat::fasttext : format;
}

bool has_header(LabelledFormat format, formats::Header header) {
  return header == formats::Header::present || (format == LabelledFormat::csv && header == formats::Header::automatic);
}

std::vector<std::string> first_row(std::string_view content, LabelledFormat format,
                                   const formats::LabelledInput& input) {
  const formats::TableSyntax& syntax = input.format.syntax();
  return format == LabelledFormat::csv ? formats::first_csv_row(content, has_header(format, input.header), syntax)
                                       : split(formats::first_line(content), syntax.separator.value_or('\t'));
}

// Whether texts have any number of labels: in lists, a column "labels", columns of 0 and 1, or fastText's lines of
// which one has not one.
bool holds_label_sets(std::string_view content, LabelledFormat format, const formats::LabelledInput& input) {
  if (input.columns.label.find(',') != std::string::npos) return true;
  if (format == LabelledFormat::jsonl)
    return input.columns.label.empty() && first_object_has(content, "labels") && !first_object_has(content, "label");
  if (has_header(format, input.header) && input.columns.label.empty()) {
    const std::vector<std::string> names = first_row(content, format, input);
    return std::ranges::count(names, "labels") > 0 && std::ranges::count(names, "label") == 0;
  }
  return format == LabelledFormat::fasttext && !formats::has_one_label_each(content);
}

// Whether a table has two texts in a row: by its header, or by having three columns and no header.
bool table_has_two_texts(std::string_view content, LabelledFormat format, const formats::LabelledInput& input) {
  const std::vector<std::string> names = first_row(content, format, input);
  return has_header(format, input.header) ? std::ranges::count(names, "text_b") > 0 : names.size() == 3;
}

// Whether the first object has words, or spans of its text.
bool first_object_is_tagged(std::string_view content, const formats::LabelledInput& input) {
  try {
    const formats::JsonDocument document(std::string(formats::first_line(content)), "");
    const formats::JsonNode object(document);
    const auto is_list = [&](const std::string& name) { return object.find(name).is_list(); };
    const formats::JsonNode labels = object.find(input.columns.label);
    const bool names_spans = labels.is_list() && labels.size() > 0 && !(*labels.list().begin()).is_text();
    return is_list("tokens") || is_list("words") || is_list("entities") || is_list("spans") || names_spans;
  } catch (const DataError&) {
    return false;
  }
}

bool holds_sentences(std::string_view content, LabelledFormat format, const formats::LabelledInput& input) {
  if (format == LabelledFormat::csv)
    return has_header(format, input.header) && formats::is_word_table(content, input.format.syntax());
  if (format == LabelledFormat::jsonl) return first_object_is_tagged(content, input);
  return format == LabelledFormat::conll || format == LabelledFormat::conllu;
}

TaskInput how_to_read(std::string_view content, LabelledFormat format, const SplitOptions& options) {
  const formats::LabelledInput& input = options.input;
  const bool by_labels = options.shares.by == SplitBy::labels;
  TaskInput task_input{.labelled = input};
  task_input.labelled.format = input.format.as(format);
  const bool is_jsonl = format == LabelledFormat::jsonl;
  if (format == LabelledFormat::squad || (is_jsonl && first_object_has(content, "question")))
    task_input.task = Task::span;
  if (holds_sentences(content, format, input)) task_input.task = Task::label;
  check<UsageError>(!by_labels || task_input.task == Task::classify,
                    "--split labels is for texts that have labels, not ",
                    "for questions and tagged words; leave out labels");
  if (task_input.task != Task::classify) return task_input;
  if (by_labels || holds_label_sets(content, format, input)) task_input.task = Task::multilabel;
  if (task_input.task == Task::multilabel)
    task_input.labelled.columns.separator = formats::separator_text(options.shares.separator);
  if (task_input.task == Task::multilabel || format == LabelledFormat::fasttext) return task_input;
  const bool two = is_jsonl ? first_object_has(content, "text_b") : table_has_two_texts(content, format, input);
  const bool names_two = std::ranges::count(input.columns.text, ',') == 1;
  if (names_two || (two && !input.columns.any())) task_input.texts = formats::Texts::two;
  return task_input;
}

bool are_numbers(const data::LabelSet& labels) {
  return std::ranges::all_of(labels.names(), [](const std::string& name) {
    double number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size();
  });
}

// The rarest tag of each sentence, by the number of sentences that have it.
std::vector<Index> rarest_tags(const TaskData& data, const data::LabelSet& labels) {
  std::vector<std::set<Index>> tags;
  std::vector<Index> sentences(static_cast<std::size_t>(labels.size()));
  for (const data::TaggedSentence& sentence : data.sentences) {
    const std::vector<Index> ids = data::tag_ids(sentence, labels, data.file);
    tags.emplace_back(ids.begin(), ids.end());
    for (const Index id : tags.back()) ++sentences[static_cast<std::size_t>(id)];
  }
  std::vector<Index> rarest;
  for (const std::set<Index>& of_sentence : tags) {
    rarest.push_back(
        *std::ranges::min_element(of_sentence, {}, [&](Index id) { return sentences[static_cast<std::size_t>(id)]; }));
  }
  return rarest;
}

// Splits the examples of one file.
class Splitter {
 public:
  Splitter(const TaskData& data, Task task, const SplitOptions& options, const cli::Arguments& arguments)
      : data_(data),
        task_(task),
        options_(options),
        arguments_(arguments),
        shares_(options.shares.sizes),
        labels_(labels_in(data, task)),
        units_(units_of(data)) {}

  // The part of each example.
  std::vector<Index> parts() {
    if (const auto header = header_warning(data_, options_.input)) arguments_.warn(*header);
    if (const auto empty = empty_texts_warning(data_)) arguments_.warn(*empty);
    set_labels();
    return data::grouped_parts(units_, shares_, static_cast<std::uint64_t>(arguments_.common().seed));
  }

  // Prints the numbers of the examples, one line each.
  void report(const std::string& output, std::string_view ending, const std::vector<Index>& parts) const {
    for (std::size_t part = 0; part < part_names.size(); ++part) {
      if (shares_[part] == 0) continue;
      arguments_.say(concatenate(output, part_names[part], ending, ": ",
                                 grouped(std::ranges::count(parts, static_cast<Index>(part))), " examples",
                                 classes_in(static_cast<Index>(part), parts)));
    }
    report_sizes(parts);
    std::map<std::uint64_t, Index> copies;
    for (const data::Unit& unit : units_) ++copies[unit.key];
    const auto further = static_cast<Index>(units_.size() - copies.size());
    if (further == 0) return;
    const char* const claim =
        data_.questions.empty() ? " a copy of another, in the same part" : " on a context of another, in the same part";
    arguments_.say(
        concatenate(data_.file, ": ", grouped(further), further == 1 ? " example is" : " examples are", claim));
  }

 private:
  // Says so where a part has many more or fewer examples than was asked for.
  void report_sizes(const std::vector<Index>& parts) const {
    const auto size = static_cast<double>(parts.size());
    const double far = std::max(1.0, 0.02 * size);
    const auto total = static_cast<double>(std::accumulate(shares_.begin(), shares_.end(), Index{0}));
    for (std::size_t part = 0; part < shares_.size(); ++part) {
      const auto count = static_cast<double>(std::ranges::count(parts, static_cast<Index>(part)));
      if (std::abs(count - size * static_cast<double>(shares_[part]) / total) <= far) continue;
      return arguments_.say(concatenate(data_.file, ": the sizes are not ", options_.shares.text(),
                                        ", because each part has each class, and copies of a text stay together"));
    }
  }

  void set_labels() {
    if (task_ == Task::span || options_.shares.by == SplitBy::random) return;
    check<DataError>(labels_.size() >= 2, data_.file, ": all examples have the label ",
                     shown(labels_.size() == 0 ? "" : labels_.name(0)),
                     "; a split by class needs two (--label-column names the column of the labels)");
    const auto many = many_classes_warning(data_, labels_);
    if (task_ == Task::classify && many && are_numbers(labels_)) {
      return arguments_.say(data_.file +
                            ": the labels are numbers; the split is random. If another column has the labels, "
                            "--label-column names it");
    }
    if (task_ == Task::classify && many) arguments_.warn(*many);
    if (const auto alike = alike_labels_warning(data_.file, labels_)) arguments_.warn(*alike);
    const std::vector<Index> ids = task_ == Task::label        ? rarest_tags(data_, labels_)
                                   : task_ == Task::multilabel ? rarest_labels(data_, labels_)
                                                               : gold_labels(data_, labels_);
    for (std::size_t i = 0; i < units_.size(); ++i) units_[i].label = ids[i];
    settle_copies();
    if (task_ == Task::classify) check_rare();
  }

  // How many different texts have a label.
  std::size_t texts_of(Index label) const { return texts_[static_cast<std::size_t>(label)].size(); }

  // Copies get the rarest of their labels.
  void settle_copies() {
    texts_.resize(static_cast<std::size_t>(labels_.size()) + 1);  // the last for texts without a label
    for (const data::Unit& unit : units_) texts_[static_cast<std::size_t>(unit.label)].insert(unit.key);
    std::map<std::uint64_t, Index> known;
    std::set<std::uint64_t> differ;
    for (const data::Unit& unit : units_) {
      const auto [place, is_new] = known.emplace(unit.key, unit.label);
      if (place->second == unit.label) continue;
      differ.insert(unit.key);
      if (std::pair(texts_of(unit.label), unit.label) < std::pair(texts_of(place->second), place->second)) {
        place->second = unit.label;
      }
    }
    for (data::Unit& unit : units_) unit.label = known[unit.key];
    if (task_ != Task::classify || differ.empty() || many_classes_warning(data_, labels_)) return;
    const auto first = std::ranges::find_if(units_, [&](const data::Unit& unit) { return differ.contains(unit.key); });
    const auto line = data_.texts[static_cast<std::size_t>(first - units_.begin())].line;
    const auto count = static_cast<Index>(differ.size());
    arguments_.warn(concatenate(data_.file, ":", line, ": the text has several labels",
                                count == 1 ? "" : concatenate(", as have ", count, " texts in all")));
  }

  void check_rare() const {
    const auto parts = static_cast<std::size_t>(std::ranges::count_if(shares_, [](Index share) { return share > 0; }));
    std::vector<std::string> rare;
    for (Index id = 0; id < labels_.size(); ++id) {
      const std::size_t count = texts_of(id);
      if (count < parts) rare.push_back(concatenate(shown(labels_.name(id)), " (", count, ")"));
    }
    if (rare.empty()) return;
    constexpr std::size_t most = 5;
    const std::size_t all = rare.size();
    rare.resize(std::min(all, most));
    const std::string found =
        concatenate(data_.file, ": ", counted(static_cast<Index>(all), "class has", "classes have"),
                    " fewer different texts than the ", parts, " parts: ", join(rare), all > most ? ", …" : "");
    check<DataError>(options_.rare == RareClasses::train, found, rare_advice);
    arguments_.say(found + "; they are in train alone");
  }

  // ", of spam 0.125, ham 0.875" where there are few classes.
  std::string classes_in(Index part, const std::vector<Index>& parts) const {
    constexpr Index most = 6;
    if (task_ != Task::classify || labels_.size() > most) return "";
    std::map<std::string, Index> counts;
    for (std::size_t i = 0; i < parts.size(); ++i) counts[data_.texts[i].label] += parts[i] == part ? 1 : 0;
    std::vector<std::string> shown;
    for (const auto& [label, count] : counts) shown.push_back(label + " " + grouped(count));
    return ": " + join(shown);
  }

  const TaskData& data_;
  Task task_;
  const SplitOptions& options_;
  const cli::Arguments& arguments_;
  std::vector<Index> shares_;
  data::LabelSet labels_;
  std::vector<data::Unit> units_;
  std::vector<std::set<std::uint64_t>> texts_;  // the keys of each label
};

using Texts = std::array<std::string, part_names.size()>;

// Starts of the lines of a text, and its end.
std::vector<std::size_t> line_begins(std::string_view content) {
  std::vector<std::size_t> begins{0};
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] == '\n' && at + 1 < content.size()) begins.push_back(at + 1);
  }
  begins.push_back(content.size());
  return begins;
}

// An example, or a record that was left out, in a file.
struct Piece {
  std::size_t first, last;  // its lines, from 0; a record that was left out has one
  Index part;               // -1: none
};

// In the order of the file.
std::vector<Piece> pieces_of(const TaskData& data, const std::vector<Index>& parts) {
  std::vector<Piece> pieces;
  const auto add = [&](Index first, Index last, Index part) {
    pieces.push_back({static_cast<std::size_t>(first - 1), static_cast<std::size_t>(last - 1), part});
  };
  const auto part = [&] { return parts[pieces.size()]; };
  for (const data::LabelledText& text : data.texts) add(text.line, text.line, part());
  for (const data::SpanQuestion& question : data.questions) add(question.line, question.line, part());
  for (const data::TaggedSentence& words : data.sentences) add(words.lines.front(), words.lines.back(), part());
  for (const formats::BadRecord& record : data.left_out) add(record.line, record.line, -1);
  std::ranges::sort(pieces, {}, &Piece::first);
  return pieces;
}

// Makes each sentence begin after the empty line after the previous one, with its comments.
void add_comments(std::vector<Piece>& sentences, std::string_view content, const std::vector<std::size_t>& begins) {
  const auto is_empty = [&](std::size_t line) {
    const std::string_view text = content.substr(begins[line], begins[line + 1] - begins[line]);
    return text::is_blank(text);
  };
  std::size_t next = 0;
  for (Piece& sentence : sentences) {
    sentence.first = std::min(next, sentence.first);
    next = sentence.last + 1;
    while (next + 1 < begins.size() && !is_empty(next)) ++next;
    while (next + 1 < begins.size() && is_empty(next)) ++next;
  }
}

// The bytes of each part, whose sentences may be paragraphs: what stands before the first example is in all of them.
Texts cut(const TaskData& data, std::string_view content, const std::vector<Index>& parts, bool are_paragraphs) {
  content = without_byte_order_mark(content);
  const std::vector<std::size_t> begins = line_begins(content);
  std::vector<Piece> pieces = pieces_of(data, parts);
  if (are_paragraphs) add_comments(pieces, content, begins);
  Texts texts;
  texts.fill(std::string(content.substr(0, begins[pieces.front().first])));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].part < 0) continue;
    const std::size_t begin = begins[pieces[i].first],
                      end = i + 1 < pieces.size() ? begins[pieces[i + 1].first] : content.size();
    std::string& text = texts[static_cast<std::size_t>(pieces[i].part)];
    text += content.substr(begin, end - begin);
    if (!text.ends_with('\n')) text += '\n';
    const bool ends_sentence = text.ends_with("\n\n") || text.ends_with("\n\r\n");
    if (are_paragraphs && !ends_sentence) text += '\n';
  }
  return texts;
}

// An object as JSON, with `list` in place of the value of `key`.
std::string with_list(const formats::JsonNode& object, std::string_view key, const std::string& list) {
  std::string text;
  for (const formats::JsonNode& member : object.members()) {
    text += concatenate(text.empty() ? "{" : ",", formats::Json(member.key()).dump(), ":",
                        member.key() == key ? "[" + list + "]" : member.json());
  }
  return text + "}";
}

// SQuAD's document with what part_of() has of each paragraph, "" for nothing. Articles without any are left out.
std::string some_paragraphs(const formats::JsonNode& document,
                            const std::function<std::string(const formats::JsonNode& paragraph)>& part_of) {
  std::string articles;
  for (const formats::JsonNode& article : document["data"].list()) {
    std::string paragraphs;
    for (const formats::JsonNode& paragraph : article["paragraphs"].list()) {
      const std::string part = part_of(paragraph);
      if (!part.empty()) paragraphs += (paragraphs.empty() ? "" : ",") + part;
    }
    if (paragraphs.empty()) continue;
    articles += (articles.empty() ? "" : ",") + with_list(article, "paragraphs", paragraphs);
  }
  return with_list(document, "data", articles) + "\n";
}

// Finds the questions that were left out, in the order of the file.
class GoodQuestions {
 public:
  explicit GoodQuestions(const std::vector<formats::BadRecord>& bad) : bad_(bad) {}

  // The next paragraph without them.
  std::string of(const formats::JsonNode& paragraph) {
    std::string questions;
    bool are_all = true;
    for (const formats::JsonNode& question : paragraph["qas"].list()) {
      const bool is_bad = next_ < bad_.size() && bad_[next_].number == number_;
      ++number_;
      next_ += is_bad ? 1 : 0;
      are_all = are_all && !is_bad;
      if (!is_bad) questions += (questions.empty() ? "" : ",") + question.json();
    }
    return are_all ? paragraph.json() : with_list(paragraph, "qas", questions);
  }

 private:
  const std::vector<formats::BadRecord>& bad_;
  std::size_t next_ = 0;
  Index number_ = 0;
};

// The paragraphs of each part, each with all of its questions. Those without any are left out.
Texts cut_paragraphs(const TaskData& data, std::string_view content, const std::vector<Index>& parts) {
  std::unordered_map<std::string_view, Index> part_of_context;
  for (std::size_t i = 0; i < parts.size(); ++i) part_of_context.emplace(*data.questions[i].context, parts[i]);
  const formats::JsonDocument document(std::string(without_byte_order_mark(content)), data.file);
  Texts texts;
  for (std::size_t part = 0; part < texts.size(); ++part) {
    GoodQuestions questions(data.left_out);
    texts[part] = some_paragraphs(formats::JsonNode(document), [&](const formats::JsonNode& paragraph) {
      const std::string good = questions.of(paragraph);
      const auto found = part_of_context.find(paragraph["context"].text());
      const bool belongs = found != part_of_context.end() && found->second == static_cast<Index>(part);
      return belongs ? good : "";
    });
  }
  return texts;
}

// Gives the records of a list the numbers of the lines that as_json_lines() puts them on.
void number_by_lines(TaskData& data) {
  auto bad = data.left_out.begin();
  std::size_t next = 0;
  const auto examples = static_cast<std::size_t>(data.size());
  for (Index number = 0; next < examples || bad != data.left_out.end(); ++number) {
    const bool is_bad = bad != data.left_out.end() && bad->number == number;
    if (is_bad || data.sentences.empty()) {
      Index& line = is_bad ? bad->line : data.texts.empty() ? data.questions[next].line : data.texts[next].line;
      line = number + 1;
    } else {
      std::ranges::fill(data.sentences[next].lines, number + 1);
    }
    is_bad ? static_cast<void>(++bad) : static_cast<void>(++next);
  }
}

void check_parts(const TaskData& data, const std::vector<Index>& shares, const std::vector<Index>& parts) {
  for (std::size_t part = 0; part < shares.size(); ++part) {
    const bool is_empty = std::ranges::count(parts, static_cast<Index>(part)) == 0;
    check<DataError>(shares[part] == 0 || !is_empty, data.file, ": ",
                     counted(data.size(), "example is", "examples are"),
                     " too few, or too many copies of one text, for so many parts: ", part_names[part], " is empty");
  }
}

}  // namespace

std::string Shares::text() const {
  if (*this == Shares()) return "none";
  const std::string setting = separator == Shares().separator ? "" : "=" + separator;
  return concatenate(by == SplitBy::automatic ? "" : to_text(by) + setting + ":", sizes[0], ",", sizes[1], ",",
                     sizes[2]);
}

Shares Shares::from_text(std::string_view text) {
  if (text == "none") return {};
  std::vector<Index> sizes;
  const std::size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  Shares shares;
  constexpr std::string_view prefix = "labels=";
  if (kind.starts_with(prefix)) {
    shares.separator = kind.substr(prefix.size());
    (void)formats::separator_text(shares.separator);
    kind = "labels";
  }
  const bool is_kind = colon != text.npos || std::ranges::count(names_of<SplitBy>(), kind) > 0;
  if (is_kind) shares.by = heddle::from_text<SplitBy>(kind);
  if (is_kind && colon == text.npos) {
    shares.sizes = {80, 10, 10};
    return shares;
  }
  if (is_kind) text.remove_prefix(colon + 1);
  for (const std::string& word : split(std::string(text), ',')) {
    Index size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    const bool sound = error == std::errc() && end == word.data() + word.size() && size >= 0 && size <= 1'000'000;
    check<UsageError>(sound, "'", word, "' is not a whole number up to 1000000; write --split 80,10,10");
    sizes.push_back(size);
  }
  check<UsageError>(sizes.size() == part_names.size(), "takes three sizes, of train, valid and test, not ",
                    sizes.size(),
                    "; write --split 80,10,10, 90,10,0 if there is a test set, or 80,0,20 for no validation");
  check<UsageError>(sizes[0] > 0 && sizes[1] + sizes[2] > 0,
                    "train and one of the others need a size above 0; write --split 80,10,10");
  shares.sizes = sizes;
  return shares;
}

void split_labelled(const std::string& path, const std::string& output, const SplitOptions& options,
                    const cli::Arguments& arguments) {
  const std::vector<Index>& shares = options.shares.sizes;
  check<UsageError>(options.shares.by != SplitBy::scaffold, "--split scaffold is for molecules, not for labelled ",
                    "texts; --smiles COLUMN says which column of a table has SMILES");
  cli::Input source = open_labelled(path, options.input, arguments);
  std::string content = cli::read_all(source);
  if (formats::has_lone_returns(content)) std::ranges::replace(content, '\r', '\n');
  const LabelledFormat format = format_of(path, content, options.input);
  const bool is_list = format == LabelledFormat::jsonl && formats::is_json_list(content);
  const std::string lines = is_list ? formats::as_json_lines(content, source.name()) : "";
  const TaskInput task_input = how_to_read(is_list ? lines : content, format, options);
  TaskData data = read_task_content(content, source.name(), task_input, arguments);
  const bool is_guessed = !options.input.columns.any() && !has_header(format, options.input.header);
  if (task_input.texts == formats::Texts::two && format != LabelledFormat::jsonl && is_guessed) {
    arguments.say(data.file +
                  ": the examples are pairs: of three columns, a label and two texts. Where that is wrong, "
                  "--label-column and --text-column name the columns");
  }
  Splitter splitter(data, task_input.task, options, arguments);
  const std::vector<Index> parts = splitter.parts();
  check_parts(data, shares, parts);
  if (is_list) number_by_lines(data);
  const bool are_paragraphs = format == LabelledFormat::conll || format == LabelledFormat::conllu;
  const Texts texts = format == LabelledFormat::squad ? cut_paragraphs(data, content, parts)
                                                      : cut(data, is_list ? lines : content, parts, are_paragraphs);
  const std::string folder = output.ends_with('/') ? output : output + "/";
  formats::AtomicDirectory directory(output);
  for (std::size_t part = 0; part < part_names.size(); ++part) {
    if (shares[part] == 0) continue;
    cli::Output file(concatenate(directory.temporary(), "/", part_names[part], formats::ending_of(format)));
    file.stream() << texts[part];
    file.close();
  }
  directory.commit();
  splitter.report(folder, formats::ending_of(format), parts);
}

}  // namespace heddle
