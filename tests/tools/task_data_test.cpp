// Labelled examples as a whole: parts of them, copies, what is held out, and what graphs files have of them.
#include "tools/tasks/task_data.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "formats/heddle/graphs_file.hpp"
#include "tools/command.hpp"
#include "tools/tasks/graph_data.hpp"

using namespace heddle;

namespace task_data_tests {

namespace {

using models::Task;

TaskData texts_named(const std::string& file, Index count) {
  TaskData data;
  data.file = file;
  for (Index line = 1; line <= count; ++line) {
    data.texts.push_back({.text = concatenate(file, " ", line * line % 7, " ", line),
                          .second_text = std::nullopt,
                          .label = line % 3 == 0 ? "a" : "b",
                          .line = line});
  }
  return data;
}

std::multiset<std::string> names_of(const std::vector<TaskData>& files) {
  std::multiset<std::string> names;
  for (const TaskData& file : files) {
    for (const data::LabelledText& text : file.texts) names.insert(text.text);
  }
  return names;
}

// A file of graphs of single nodes without edges: their numbers, and the labels of the graphs, or unknown ones.
std::string write_graphs(const std::string& path, const std::vector<float>& numbers,
                         const std::vector<double>& labels) {
  data::GraphSchema schema;
  schema.nodes.numbers = {{"number"}};
  formats::GraphsFileWriter writer(path, schema, {data::GraphLevel::graph, {{"kind", {"k0", "k1"}}}});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    data::GraphRecord record;
    record.graph.nodes = 1;
    record.graph.rows = {0, 0};
    record.graph.node_features.numbers = {numbers[i]};
    record.targets = {labels[i]};
    writer.append(record);
  }
  writer.commit(formats::start_provenance("a test"));
  return path;
}

}  // namespace

TEST_CASE("examples: what describes them all belongs to each part of them") {
  TaskData data = texts_named("f", 4);
  data.graphs = std::make_shared<const data::GraphsInMemory>(data::GraphSchema(), data::GraphTargets(),
                                                             std::vector<data::GraphRecord>(), "g");
  data.level = data::GraphLevel::node;
  data.columns = {"x", "y"};
  data.side = data::SplitSide::train;
  const TaskData part = chosen(data, {3, 1});
  REQUIRE(part.texts.size() == 2);
  CHECK(part.texts[0].line == 4);
  CHECK(part.texts[1].line == 2);
  CHECK(part.file == "f");
  CHECK(part.graphs == data.graphs);
  CHECK(part.level == data.level);
  CHECK(part.columns == data.columns);
  CHECK(part.side == data.side);
}

TEST_CASE("folds: with as many texts of each class as folds each fold has every class") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const TaskData data = [] {
      TaskData texts = texts_named("f", 6);
      for (std::size_t i = 0; i < 6; ++i) texts.texts[i].label = i < 3 ? "a" : "b";
      return texts;
    }();
    for (Index fold = 1; fold <= 3; ++fold) {
      CHECK(labels_in(part_of(data, {3, fold, seed}, Side::inside), Task::classify).size() == 2);
    }
  }
}

TEST_CASE("held out: of several files of any sizes the same texts as of all in one") {
  for (const std::vector<Index>& sizes : std::vector<std::vector<Index>>{{40, 7, 23}, {3, 60, 3}, {30, 1, 1, 30}}) {
    std::vector<TaskData> files;
    for (const Index size : sizes) files.push_back(texts_named(concatenate("file ", files.size()), size));
    const HeldOutData apart = hold_out(files, Task::classify, {200'000});
    const HeldOutData together = hold_out({joined(files)}, Task::classify, {200'000});
    REQUIRE(apart.valid.size() == files.size());
    CHECK(names_of(apart.valid) == names_of(together.valid));
    CHECK(names_of(apart.train) == names_of(together.train));
    for (std::size_t i = 0; i < files.size(); ++i) {
      CHECK(apart.train[i].size() + apart.valid[i].size() == files[i].size());
    }
  }
}

TEST_CASE("copies: pairs are the same where both texts are, in this order, and questions where their contexts are") {
  const auto pair = [](const std::string& first, const std::string& second) {
    return data::LabelledText{.text = first, .second_text = second, .label = "a"};
  };
  TaskData data;
  data.texts = {pair("one", "two"), pair("one", "three"), pair("two", "one"), pair(" one", "two\n"),
                pair("onetwo", "")};
  const std::vector<data::Unit> units = units_of(data);
  REQUIRE(units.size() == 5);
  CHECK(units[3].key == units[0].key);
  const std::set<std::uint64_t> different{units[0].key, units[1].key, units[2].key, units[4].key};
  CHECK(different.size() == 4);
  CHECK(text_keys_of(data).size() == 4);
  TaskData asked;
  const auto context = [](const char* text) { return std::make_shared<const std::string>(text); };
  const auto shared = context("here");
  for (const auto& of : {shared, shared, context("there"), context("here\n"), shared}) {
    asked.questions.push_back({.id = "", .question = "?", .context = of, .answers = {}});
  }
  const std::vector<data::Unit> contexts = units_of(asked);
  for (const std::size_t i : {1, 3, 4}) CHECK(contexts[i].key == contexts[0].key);
  CHECK(contexts[2].key != contexts[0].key);
}

TEST_CASE("graphs as examples: their numbers are those in the file, and features are measured on the examples alone") {
  const testing::TemporaryFolder folder;
  const double unknown = data::unknown_target;
  const std::string one = write_graphs(folder / "a.h5", {1, 100, 4, 200, 10}, {0, unknown, 1, unknown, 1});
  const std::string other = write_graphs(folder / "b.h5", {300, 7}, {unknown, 0});
  const TaskInput input{.labelled = {}, .task = Task::classify};
  const TaskData data = read_graphs(one, input), more = read_graphs(other, input);
  CHECK(graph_numbers(data) == std::vector<Index>{0, 2, 4});
  CHECK(graph_numbers(more) == std::vector<Index>{1});
  CHECK(graph_numbers(joined({data, more})) == std::vector<Index>{0, 2, 4, 6});
  CHECK(data.texts[1].name == "3");
  const auto column = measured_features({data, more}).nodes.numbers.at(0);
  CHECK(column.mean == doctest::Approx(5.5));  // mean of 1, 4, 10 and 7
  CHECK(column.stddev == doctest::Approx(std::sqrt(11.25)));
  const auto part = measured_features({chosen(data, {0, 2})}).nodes.numbers.at(0);
  CHECK(part.mean == doctest::Approx(5.5));
  CHECK(part.stddev == doctest::Approx(4.5));
}

}  // namespace task_data_tests
