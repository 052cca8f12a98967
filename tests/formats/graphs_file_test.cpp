#include "formats/heddle/graphs_file.hpp"

#include <cmath>
#include <cstdlib>

#include "files.hpp"
#include "formats/heddle/content.hpp"
#include "formats/heddle/graph_columns.hpp"
#include "library.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

using data::GraphRecord;

data::GraphSchema graph_schema() {
  data::GraphSchema schema;
  schema.nodes.categories = {{"element", {"C", "N"}}, {"ring", {"yes"}}};
  schema.nodes.numbers = {{"mass"}};
  schema.edges.categories = {{"order", {"single", "double"}}};
  return schema;
}

data::GraphTargets two_targets() {
  return {data::GraphLevel::graph, {{"active", {"no", "yes"}}, {"solubility", {}}}};
}

// C=N and a lone C, with all that a record may have.
GraphRecord whole_record() {
  GraphRecord record;
  record.graph.nodes = 3;
  record.graph.rows = {0, 1, 2, 2};
  record.graph.sources = {1, 0};
  record.graph.node_features = {{1, 0, 2, 1, 1, 0}, {12, 14, 13}};
  record.graph.edge_features = {{2, 2}, {}};
  record.id = "C=N.C";
  record.line = 7;
  record.targets = {1, -2.5};
  record.node_names = {"C", "N", "C"};
  record.positions = {0, 0, 1.5f, 0, 3, 1};
  record.group = "scaffold";
  record.fragments = {3, 5, 4000000000u};
  record.sides = {data::SplitSide::test};
  return record;
}

// One node, no edge, nothing else.
GraphRecord bare_record() {
  GraphRecord record;
  record.graph.nodes = 1;
  record.graph.rows = {0, 0};
  record.graph.node_features = {{0, 0}, {13}};
  record.targets = {data::unknown_target, data::unknown_target};
  return record;
}

void write_graphs(const std::string& path, const std::vector<GraphRecord>& records,
                  const data::GraphSchema& schema = graph_schema(), const data::GraphTargets& targets = two_targets()) {
  GraphsFileWriter writer(path, schema, targets);
  for (const GraphRecord& record : records) writer.append(record);
  writer.commit(start_provenance("test"));
}

// Rows of an own file's data set.
template <class T>
void overwrite(const std::string& path, const char* name, Index row, T value) {
  change_by_library(path, [&](hid_t file) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), all = H5Dget_space(dataset);
    const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(all));
    std::vector<T> values(count);
    const hid_t type = H5Dget_type(dataset);
    H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    values.at(static_cast<std::size_t>(row)) = value;
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Tclose(type), H5Sclose(all), H5Dclose(dataset);
  });
}

}  // namespace

TEST_CASE("graphs file: what was written is read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.h5");
  for (const bool whole_first : {true, false}) {
    const std::vector<GraphRecord> records =
        whole_first ? std::vector{whole_record(), bare_record()} : std::vector{bare_record(), whole_record()};
    write_graphs(path, records);
    const GraphsFile file(path);
    REQUIRE(file.size() == 2);
    CHECK(file.nodes() == 4);
    CHECK(file.edges() == 2);
    CHECK(file.targets() == two_targets());
    CHECK(file.schema().nodes.categories == graph_schema().nodes.categories);
    CHECK(file.schema().edges == graph_schema().edges);
    CHECK(file.schema().nodes.numbers[0].mean == 13);
    CHECK(file.schema().nodes.numbers[0].stddev == doctest::Approx(std::sqrt(0.5)));
    for (Index i = 0; i < 2; ++i) {
      const GraphRecord& wanted = records[static_cast<std::size_t>(i)];
      GraphRecord read = file.record(i);
      if (wanted.sides.empty()) {
        CHECK(read.sides == std::vector{data::SplitSide::none});
        read.sides.clear();
      }
      CHECK(data::same_record(read, wanted));
      CHECK(file.graph(i) == wanted.graph);
      CHECK(file.structure(i).sources == wanted.graph.sources);
    }
    CHECK(file.parts() == std::vector<std::string>{"ids", "lines", "groups", "fragments", "names of nodes", "positions",
                                                   "sides of a split"});
    CHECK(file.verify().empty());
    CHECK(kind_of(path) == FileKind::graphs);
    const Trust trust;
    CHECK(data::same_record(GraphsFile(path).record(whole_first ? 0 : 1), whole_record()));
  }
  CHECK(message_of([&] { GraphsFile(path).record(2); }) == path + ": has no graph 3, only 2");
}

TEST_CASE("graphs file: parts without elements are not written") {
  const TemporaryFolder folder;
  write_graphs(folder.file("g.h5"), {bare_record()}, graph_schema());
  const InputFile file(folder.file("g.h5"));
  for (const char* name : {"ids", "lines", "groups", "fragments", "sides"}) CHECK_FALSE(file.root().has(name));
  CHECK_FALSE(file.root().group("edges").has("sources"));
  CHECK(GraphsFile(folder.file("g.h5")).parts().empty());

  GraphRecord plain;
  plain.graph.nodes = 2;
  plain.graph.rows = {0, 0, 1};
  plain.graph.sources = {0};
  data::GraphSchema directed;
  directed.is_directed = true;
  write_graphs(folder.file("plain.h5"), {plain}, directed, {});
  const GraphsFile read(folder.file("plain.h5"));
  CHECK(read.schema().is_directed);
  CHECK(read.schema().empty());
  CHECK(read.targets().columns.empty());
  CHECK(read.verify().empty());
  CHECK(data::same_record(read.record(0), plain));
}

TEST_CASE("graphs file: many graphs, of which columns take several chunks") {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.h5");
  std::vector<GraphRecord> records;
  for (Index i = 0; i < 30000; ++i) {
    GraphRecord record = whole_record();
    record.line = i + 1;
    record.id = std::to_string(i);
    record.graph.node_features.numbers[0] = static_cast<float>(i);
    record.fragments.assign(static_cast<std::size_t>(i % 4), static_cast<std::uint32_t>(i));
    records.push_back(record);
  }
  write_graphs(path, records);
  const GraphsFile file(path);
  for (const Index i : {0, 1, 21844, 21845, 21846, 29999}) {
    CHECK(data::same_record(file.record(i), records[static_cast<std::size_t>(i)]));
  }
  CHECK(file.verify().empty());
}

TEST_CASE("graphs file: kinds of any number take the smallest integers") {
  const TemporaryFolder folder;
  for (const auto& [count, dtype] : {std::pair{127, hdf5::DType::int8}, std::pair{128, hdf5::DType::uint16},
                                     std::pair{65536, hdf5::DType::uint32}}) {
    data::GraphSchema schema;
    schema.nodes.categories = {{"word", {}}};
    for (int i = 0; i < count; ++i) schema.nodes.categories[0].kinds.push_back(std::to_string(i));
    GraphRecord record;
    record.graph.nodes = 1;
    record.graph.rows = {0, 0};
    record.graph.node_features.categories = {count};
    write_graphs(folder.file("g.h5"), {record}, schema, {});
    const GraphsFile file(folder.file("g.h5"));
    CHECK(file.file().root().group("nodes").dataset("categories").dtype() == dtype);
    CHECK(file.graph(0).node_features.categories == std::vector{count});
    CHECK(file.schema() == schema);
  }
}

TEST_CASE("graphs file: what does not fit is refused, and no file appears") {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.h5");
  const auto refused = [&](const auto& change) {
    GraphRecord record = whole_record();
    change(record);
    return message_of([&] { write_graphs(path, {record}); });
  };
  CHECK(contains(refused([](GraphRecord& r) { r.graph.sources[0] = 3; }), "C=N.C: an edge from node 3 of 3"));
  CHECK(contains(refused([](GraphRecord& r) { r.graph.node_features.categories[0] = 3; }), "element"));
  CHECK(contains(refused([](GraphRecord& r) { r.graph.node_features.numbers[0] = NAN; }), "mass"));
  CHECK(contains(refused([](GraphRecord& r) { r.graph.edge_features.categories[1] = 3; }), "order"));
  CHECK(contains(refused([](GraphRecord& r) { r.graph.edge_features.categories.push_back(1); }), "edges"));
  CHECK(contains(refused([](GraphRecord& r) { r.targets[0] = 2; }), "'active' is 2"));
  CHECK(contains(refused([](GraphRecord& r) { r.node_names[0] = "a\nb"; }), "line break"));
  CHECK(contains(refused([](GraphRecord& r) { r.id = "\xff"; }), "UTF-8"));
  CHECK(contains(refused([](GraphRecord& r) { r.sides.resize(3); }), "3 sides of a split, not 1"));
  CHECK(contains(message_of([&] { write_graphs(path, {}); }), "would have no graphs"));
  CHECK(folder.names().empty());
}

TEST_CASE("graphs file: pairs of nodes have labels and sides of their own") {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.h5");
  const data::GraphTargets targets{data::GraphLevel::pair, {{"edge", {"no", "yes"}}}};
  GraphRecord first = whole_record(), none = bare_record(), last = whole_record();
  first.graph.pairs = {{2, 0}, {1, 1}};
  first.targets = {1, data::unknown_target};
  first.sides = {data::SplitSide::valid, data::SplitSide::train};
  none.targets.clear();
  last.graph.pairs = {{0, 1}, {2, 1}, {0, 2}};
  last.targets = {0, 1, 0};
  last.sides = {data::SplitSide::test, data::SplitSide::none, data::SplitSide::train};
  const std::vector<GraphRecord> records{first, none, last};
  write_graphs(path, records, graph_schema(), targets);
  const GraphsFile file(path);
  CHECK(file.pairs() == 5);
  for (Index i = 0; i < 3; ++i) {
    CHECK(data::same_record(file.record(i), records[static_cast<std::size_t>(i)]));
    CHECK(file.graph(i).pairs == records[static_cast<std::size_t>(i)].graph.pairs);
  }
  CHECK(file.values(2) == std::vector<double>{0, 1, 0});
  CHECK(file.sides(0) == first.sides);
  CHECK(file.verify().empty());
  const std::string sum = content_checksum(InputFile(path));
  last.graph.pairs[1] = {1, 2};
  write_graphs(folder.file("other.h5"), {first, none, last}, graph_schema(), targets);
  CHECK(content_checksum(InputFile(folder.file("other.h5"))) != sum);

  overwrite<std::uint32_t>(path, "pairs/values", 1, 3);
  CHECK(contains(message_of([&] { GraphsFile(path).record(0); }), "a pair with node 3 of 3"));
  overwrite<std::uint64_t>(path, "pairs/offsets", 1, 3);
  CHECK(contains(message_of([&] { GraphsFile(path).record(0); }), "a pair has one node"));
  last.targets.pop_back();
  CHECK(contains(message_of([&] { write_graphs(path, {last}, graph_schema(), targets); }), "2 labels for 3 items"));
  last.targets.push_back(1);
  last.sides.pop_back();
  CHECK(
      contains(message_of([&] { write_graphs(path, {last}, graph_schema(), targets); }), "2 sides of a split, not 3"));
}

TEST_CASE("graphs file: damage is refused by name") {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.h5");
  const auto damaged = [&](const auto& change) {
    write_graphs(path, {whole_record(), bare_record()});
    change();
    return message_of([&] {
      const GraphsFile file(path);
      for (Index i = 0; i < file.size(); ++i) file.record(i);
    });
  };
  CHECK(contains(damaged([&] { overwrite<std::uint64_t>(path, "graphs/nodes", 1, 5); }), "/graphs/nodes"));
  CHECK(contains(damaged([&] { overwrite<std::uint64_t>(path, "graphs/edges", 2, 1ull << 63); }), "/graphs/edges"));
  CHECK(contains(damaged([&] { overwrite<std::uint64_t>(path, "edges/rows", 1, 9); }), "graph 1: its edges"));
  CHECK(contains(damaged([&] { overwrite<std::uint32_t>(path, "edges/sources", 0, 3); }), "from node 3 of 3"));
  CHECK(contains(damaged([&] { overwrite<std::int8_t>(path, "nodes/categories", 0, 3); }), "kind 3"));
  CHECK(contains(damaged([&] { overwrite<float>(path, "nodes/numbers", 0, INFINITY); }), "not a finite number"));
  CHECK(contains(damaged([&] { overwrite<std::int8_t>(path, "sides", 0, 9); }), "the side 9"));
  CHECK(contains(damaged([&] { overwrite<std::int8_t>(path, "ids/values", 0, -1); }), "UTF-8"));
  CHECK(contains(damaged([&] { overwrite<double>(path, "schema/nodes/stddevs", 0, 0); }), "/schema/nodes"));

  write_graphs(path, {whole_record()});
  overwrite<std::uint32_t>(path, "edges/sources", 0, 3);
  CHECK(contains(message_of([&] { GraphsFile(path).structure(0); }), "from node 3 of 3"));
  write_graphs(path, {whole_record()});
  overwrite<float>(path, "nodes/numbers", 0, 13);
  const std::vector<std::string> problems = GraphsFile(path).verify();
  REQUIRE(problems.size() == 1);
  CHECK(contains(problems[0], "/nodes/numbers: the checksum does not match"));
}

TEST_CASE("graphs file: content is what it holds, whatever the time") {
  const TemporaryFolder folder;
  write_graphs(folder.file("a.h5"), {whole_record()});
  write_graphs(folder.file("b.h5"), {whole_record()});
  GraphRecord other = whole_record();
  other.fragments.pop_back();
  write_graphs(folder.file("c.h5"), {other});
  const auto sum = [&](const char* name) { return content_checksum(InputFile(folder.file(name))); };
  CHECK(sum("a.h5") == sum("b.h5"));
  CHECK(sum("a.h5") != sum("c.h5"));
}
