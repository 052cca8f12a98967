#include "tools/tasks/graph_data.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "formats/heddle/graphs_file.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/data/graph_parts.hpp"

namespace heddle {

namespace {

using models::Answer;
using models::Answered;
using models::Task;

// Whether graphs have several labels that can be learned at once: one of them has all classes that any has.
bool are_alike(const data::GraphTargets& targets, const std::vector<std::size_t>& columns) {
  std::set<std::string> all;
  std::size_t most = 0;
  for (const std::size_t column : columns) {
    const std::vector<std::string>& classes = targets.columns[column].classes;
    if (classes.empty()) return false;
    all.insert(classes.begin(), classes.end());
    most = std::max(most, classes.size());
  }
  return targets.level == data::GraphLevel::graph && all.size() == most;
}

std::vector<std::string> names_of(const data::GraphTargets& targets) {
  std::vector<std::string> names;
  for (const data::TargetColumn& of : targets.columns) names.push_back(of.name);
  return names;
}

// The numbers of the columns of labels with these names.
std::vector<std::size_t> columns_with(const std::vector<std::string>& names, const data::GraphTargets& targets,
                                      const std::string& path) {
  const std::vector<std::string> all = names_of(targets);
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name);
    check<UsageError>(found != all.end(), "--label-column ", name, ": ", path, " has the labels ", join(all));
    const auto column = static_cast<std::size_t>(found - all.begin());
    check<UsageError>(std::ranges::count(columns, column) == 0, "--label-column ", name, ": is named twice");
    columns.push_back(column);
  }
  return columns;
}

// Columns that are learned: those named by `words`, else all.
std::vector<std::size_t> chosen_columns(const data::GraphTargets& targets, const std::string& path,
                                        const std::string& words) {
  check<DataError>(!targets.columns.empty(), path, ": has no labels; make it with convert --label-column NAME");
  const std::vector<std::string> all = names_of(targets);
  const bool is_one = std::ranges::find(all, words) != all.end();  // a name may have a comma
  const std::vector<std::size_t> columns = columns_with(words.empty() ? all
                                                        : is_one      ? std::vector{words}
                                                                      : split(words, ','),
                                                        targets, path);
  check<UsageError>(columns.size() == 1 || are_alike(targets, columns), path, ": has the labels ", join(all),
                    "; choose one with --label-column; several can be learned at once if all are labels of graphs with "
                    "the same classes");
  return columns;
}

Task task_of(const data::GraphTargets& targets, const std::string& path, const std::vector<std::size_t>& columns) {
  if (columns.size() > 1) return Task::label;
  const bool is_class = !targets.columns[columns.front()].classes.empty();
  check<UsageError>(targets.level == data::GraphLevel::graph || is_class, path, ": has numbers of ",
                    to_text(targets.level), "s, which no task learns; classes of nodes, edges and pairs are learned");
  if (targets.level != data::GraphLevel::graph) return Task::label;
  return is_class ? Task::classify : Task::regress;
}

bool is_number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

std::string label_text(const data::TargetColumn& column, double value) {
  return column.classes.empty() ? format(value) : column.classes[static_cast<std::size_t>(value)];
}

// A word that is the same in every file, whatever the case and the signs in the kind's name.
std::string word_of_kind(const data::CategoryColumn& column, std::int32_t kind) {
  std::string word = "n";
  if (kind == 0) return word;
  for (const char c : column.kinds[static_cast<std::size_t>(kind) - 1]) {
    word += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    word += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return word;
}

// The parts of a graph as words: its fragments where there are any, else the kinds of its nodes.
std::string words_of(const data::GraphRecord& record, const data::GraphSchema& schema) {
  std::vector<std::string> words;
  for (const std::uint32_t fragment : record.fragments) words.push_back("f" + std::to_string(fragment));
  const std::size_t columns = schema.nodes.categories.size();
  const std::vector<std::int32_t>& kinds = record.graph.node_features.categories;
  for (std::size_t i = 0; record.fragments.empty() && i < kinds.size(); i += columns) {
    words.push_back(word_of_kind(schema.nodes.categories.front(), kinds[i]));
  }
  return words.empty() ? "graph" : join(words, " ");
}

std::string name_of(const data::GraphRecord& record, Index number) {
  return record.id.empty() ? std::to_string(number + 1) : record.id;
}

std::string name_of_node(const data::GraphRecord& record, Index node) {
  return record.node_names.empty() ? std::to_string(node + 1) : record.node_names[static_cast<std::size_t>(node)];
}

// For people, what have answers: "7", or "7>12" of a directed edge or pair, "7-12" of another. An edge that is there
// both ways is one.
struct NamedPart {
  Index number;
  std::string name;
};
std::vector<NamedPart> parts_of(const data::GraphRecord& record, data::GraphLevel level, bool is_directed) {
  std::vector<NamedPart> parts;
  const data::Graph& graph = record.graph;
  const auto joined_names = [&](const data::NodePair& pair) {
    return name_of_node(record, pair.source) + (is_directed ? ">" : "-") + name_of_node(record, pair.target);
  };
  for (Index node = 0; node < graph.nodes; ++node) {
    if (level == data::GraphLevel::node) parts.push_back({node, name_of_node(record, node)});
    if (level != data::GraphLevel::edge) continue;
    for (Index e = graph.rows[static_cast<std::size_t>(node)]; e < graph.rows[static_cast<std::size_t>(node) + 1];
         ++e) {
      const Index source = graph.sources[static_cast<std::size_t>(e)];
      if (is_directed || source <= node) parts.push_back({e, joined_names({source, node})});
    }
  }
  if (level != data::GraphLevel::pair) return parts;
  for (const data::NodePair& pair : graph.pairs)
    parts.push_back({static_cast<Index>(parts.size()), joined_names(pair)});
  return parts;
}

// Whether a node, edge or graph belongs to the side of the split that the examples are of.
bool is_of_side(const data::GraphRecord& record, Index part, const TaskData& data) {
  if (data.side == data::SplitSide::none) return true;
  return record.sides[data::has_sides_of_items(data.level) ? static_cast<std::size_t>(part) : 0] == data.side;
}

// The nodes or edges of a graph, or the names of its labels, as words with their tags; those alone that have one where
// tags are needed.
data::TaggedSentence sentence_of(const data::GraphRecord& record, const data::GraphSource& source,
                                 const std::vector<std::size_t>& columns, Index number, const TaskData& data,
                                 formats::Gold gold) {
  data::TaggedSentence sentence{{}, {}, {}};
  const data::GraphTargets& targets = source.targets();
  std::vector<NamedPart> parts;
  for (const std::string& name : data.columns) parts.push_back({static_cast<Index>(parts.size()), name});
  if (parts.empty()) parts = parts_of(record, data.level, source.schema().is_directed);
  for (const NamedPart& part : parts) {
    if (!is_of_side(record, part.number, data)) continue;
    if (gold == formats::Gold::given) {
      const auto at = static_cast<std::size_t>(part.number);
      const std::size_t column = columns[data.columns.empty() ? 0 : at];
      const double value = record.targets[(data.columns.empty() ? at * targets.columns.size() : 0) + column];
      if (std::isnan(value)) continue;
      sentence.tags.push_back(label_text(targets.columns[column], value));
    }
    sentence.words.push_back(part.name);
    sentence.lines.push_back(number + 1);
    sentence.parts.push_back(part.number);
  }
  return sentence;
}

Index number_of(const data::LabelledText& text) {
  return text.line - 1;
}
Index number_of(const data::TaggedSentence& sentence) {
  return sentence.lines.front() - 1;
}

}  // namespace

Task task_of_graphs(const std::string& path, const std::string& column) {
  const formats::GraphsFile file(path);
  return task_of(file.targets(), path, chosen_columns(file.targets(), path, column));
}

TaskData read_graphs(const std::string& path, const TaskInput& input) {
  auto file = std::make_shared<formats::GraphsFile>(path);
  const data::GraphTargets& targets = file->targets();
  const bool has_gold = input.gold == formats::Gold::given;
  const data::GraphLevel level = input.level.value_or(targets.level);
  std::vector<std::size_t> columns;
  if (has_gold) {
    columns = input.columns.empty() ? chosen_columns(targets, path, input.labelled.columns.label)
                                    : columns_with(input.columns, targets, path);
    const Task task = task_of(targets, path, columns);
    // Few whole numbers are classes in a file, many are numbers, and either may be meant.
    const bool are_numbers =
        (task == Task::classify && input.task == Task::regress &&
         std::ranges::all_of(targets.columns[columns.front()].classes, is_number)) ||
        (task == Task::regress && input.task == Task::classify && targets.level == data::GraphLevel::graph);
    const std::string advice = targets.columns.size() > 1 && columns.size() > 1
                                   ? "; choose one of " + join(names_of(targets)) + " with --label-column"
                                   : "";
    check<UsageError>(task == input.task || are_numbers, path, ": has labels for --task ", to_text(task), ", not for ",
                      to_text(input.task), advice);
    check<UsageError>(targets.level == level, path, ": has labels of ", to_text(targets.level), "s, not of ",
                      to_text(level), "s");
  }
  check<DataError>(level != data::GraphLevel::pair || file->pairs() > 0, path,
                   ": has no pairs of nodes, which the model answers; make it with convert --node-pairs");
  TaskData data{.file = path, .texts = {}, .sentences = {}, .questions = {}, .graphs = file, .level = level};
  if (has_gold && file->has_sides()) data.side = input.side;
  data.columns = input.columns;
  for (const std::size_t column : columns) data.label_names.push_back(targets.columns[column].name);
  if (columns.size() > 1) data.columns = data.label_names;
  for (Index number = 0; number < file->size(); ++number) {
    const data::GraphRecord record = file->record(number);
    if (answered_by(input.task) == Answered::parts) {
      data::TaggedSentence sentence = sentence_of(record, *file, columns, number, data, input.gold);
      if (!sentence.words.empty()) data.sentences.push_back(std::move(sentence));
      continue;
    }
    if (!is_of_side(record, 0, data)) continue;
    data::LabelledText text{.text = words_of(record, file->schema()), .second_text = {}, .label = {}};
    text.line = number + 1;
    text.name = name_of(record, number);
    if (has_gold) {
      const double value = record.targets[columns.front()];
      if (std::isnan(value)) continue;
      text.label = label_text(targets.columns[columns.front()], value);
    }
    data.texts.push_back(std::move(text));
  }
  const std::string of_side =
      data.side == data::SplitSide::none ? "" : concatenate(" of the ", to_text(data.side), " side of its split");
  check<DataError>(!has_gold || data.size() > 0, path, ": no ", to_text(level), of_side, " has a label");
  return data;
}

void join_graphs(TaskData& all, const std::vector<TaskData>& files) {
  std::vector<std::shared_ptr<const data::GraphSource>> sources;
  Index before = 0;
  auto text = all.texts.begin();
  auto sentence = all.sentences.begin();
  for (const TaskData& file : files) {
    for (std::size_t i = 0; i < file.texts.size(); ++i, ++text) text->line += before;
    for (std::size_t i = 0; i < file.sentences.size(); ++i, ++sentence) {
      for (Index& line : sentence->lines) line += before;
    }
    before += file.graphs->size();
    sources.push_back(file.graphs);
  }
  all.graphs = std::make_shared<const data::GraphsForModel>(std::move(sources), files.front().graphs->schema());
  all.level = files.front().level;
  all.columns = files.front().columns;
}

bool is_one_graph(const TaskData& data) {
  return data.graphs != nullptr && data.columns.empty() && data.sentences.size() == 1 &&
         data.sentences.front().words.size() > 1;
}

TaskData with_parts_apart(const TaskData& data) {
  TaskData apart = data;
  apart.sentences.clear();
  const data::TaggedSentence& whole = data.sentences.front();
  for (std::size_t i = 0; i < whole.words.size(); ++i) {
    data::TaggedSentence& part = apart.sentences.emplace_back();
    part.words = {whole.words[i]};
    if (!whole.tags.empty()) part.tags = {whole.tags[i]};
    part.lines = {whole.lines[i]};
    part.parts = {whole.parts[i]};
  }
  return apart;
}

TaskData with_parts_together(TaskData data) {
  if (data.sentences.empty()) return data;
  const auto append = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  data::TaggedSentence whole = data.sentences.front();
  for (auto part = data.sentences.begin() + 1; part != data.sentences.end(); ++part) {
    append(whole.words, part->words);
    append(whole.tags, part->tags);
    append(whole.lines, part->lines);
    append(whole.parts, part->parts);
  }
  data.sentences = {std::move(whole)};
  return data;
}

std::vector<Index> graph_numbers(const TaskData& data) {
  std::vector<Index> numbers;
  for (const data::LabelledText& text : data.texts) numbers.push_back(number_of(text));
  for (const data::TaggedSentence& sentence : data.sentences) numbers.push_back(number_of(sentence));
  return numbers;
}

namespace {

// Mean and standard deviation of each column over numbers that come row by row: of their distances from the first,
// which are exactly 0 where all are the same, and small where all are large.
class Moments {
 public:
  explicit Moments(std::size_t columns) : sums_(columns), squares_(columns) {}
  void add(const std::vector<float>& rows) {
    if (rows.empty()) return;
    if (count_ == 0) first_.assign(rows.begin(), rows.begin() + std::ssize(sums_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t c = i % sums_.size();
      const double x = static_cast<double>(rows[i]) - first_[c];
      sums_[c] += x;
      squares_[c] += x * x;
    }
    count_ += static_cast<double>(rows.size() / sums_.size());
  }
  void set(std::vector<data::NumberColumn>& columns) const {
    for (std::size_t c = 0; c < columns.size() && count_ > 0; ++c) {
      const double mean = sums_[c] / count_;
      columns[c].mean = first_[c] + mean;
      const double variance = squares_[c] / count_ - mean * mean;
      columns[c].stddev = variance > 0 ? std::sqrt(variance) : 1;
    }
  }

 private:
  std::vector<double> first_, sums_, squares_;
  double count_ = 0;
};

}  // namespace

data::GraphSchema measured_features(const std::vector<TaskData>& files) {
  data::GraphSchema schema = files.front().graphs->schema();
  Moments nodes(schema.nodes.numbers.size()), edges(schema.edges.numbers.size());
  if (schema.nodes.numbers.empty() && schema.edges.numbers.empty()) return schema;
  for (const TaskData& file : files) {
    const data::GraphsForModel graphs({file.graphs}, schema);  // columns of the first file, by their names
    for (const Index number : graph_numbers(file)) {
      const data::Graph graph = graphs.graph(number);
      nodes.add(graph.node_features.numbers);
      edges.add(graph.edge_features.numbers);
    }
  }
  nodes.set(schema.nodes.numbers);
  edges.set(schema.edges.numbers);
  return schema;
}

std::vector<data::TaskExample> encode_graphs(const TaskData& data, const EncodeGraphs& encoding) {
  check<DataError>(data.graphs != nullptr, data.file,
                   ": holds texts, and the model reads graphs; convert makes a graphs file of molecules or tables");
  const auto graphs = std::make_shared<const data::GraphsForModel>(
      std::vector<std::shared_ptr<const data::GraphSource>>{data.graphs}, encoding.features);
  std::vector<data::TaskExample> examples;
  const auto add = [&](Index number) -> data::TaskExample& {
    data::TaskExample& example = examples.emplace_back();
    example.graph = {graphs, number, graphs->nodes(number)};
    example.source = static_cast<Index>(examples.size()) - 1;
    return example;
  };
  const bool has_gold = encoding.gold == formats::Gold::given;
  for (const data::LabelledText& text : data.texts) {
    data::TaskExample& example = add(number_of(text));
    if (has_gold && answer_of(encoding.task) == Answer::number)
      example.value = data::numeric_labels({&text, 1}, data.file).front();
    if (has_gold && has_classes(encoding.task))
      example.label = static_cast<TokenId>(encoding.labels.find(text.label).value_or(-1));
  }
  for (const data::TaggedSentence& sentence : data.sentences) {
    data::TaskExample& example = add(number_of(sentence));
    example.positions = sentence.parts;
    for (std::size_t word = 0; word < sentence.words.size(); ++word) {
      example.words.push_back(static_cast<Index>(word));
      example.tags.push_back(
          sentence.tags.empty() ? -1 : static_cast<TokenId>(encoding.labels.find(sentence.tags[word]).value_or(-1)));
    }
  }
  return examples;
}

}  // namespace heddle
