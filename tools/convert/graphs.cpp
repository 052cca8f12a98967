#include "tools/convert/graphs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>

#include "formats/files/atomic_directory.hpp"
#include "formats/files/lines.hpp"
#include "formats/graphs/edge_list.hpp"
#include "formats/graphs/graph_tables.hpp"
#include "formats/graphs/label_values.hpp"
#include "formats/graphs/tu_folder.hpp"
#include "formats/heddle/graphs_file.hpp"
#include "formats/labelled/named_table.hpp"
#include "libcore/base/values.hpp"
#include "libcore/data/hidden_edges.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/convert/graph_split.hpp"
#include "tools/convert/model_conversion.hpp"

namespace heddle {

namespace {

using formats::GraphsFile;
using formats::GraphsFileWriter;

bool is_graphs_file(const std::string& path) {
  try {
    return std::filesystem::is_regular_file(path) && formats::kind_of(path) == formats::FileKind::graphs;
  } catch (const DataError&) {
    return false;
  }
}

std::string read_table(const std::string& path, const cli::Arguments& arguments) {
  cli::Input input = arguments.open_text(path);
  std::string content = cli::read_all(input);
  if (formats::has_lone_returns(content)) std::ranges::replace(content, '\r', '\n');
  return content;
}

// Notes, with -v, of properties of graphs that may be errors.
class Oddities {
 public:
  void see(const data::Graph& graph) {
    repeated_ += formats::repeated_edges(graph);
    loops_ += formats::loops(graph);
    large_ += graph.nodes > formats::most_drawn_atoms ? 1 : 0;
  }
  void report(const std::string& name, bool are_molecules, const cli::Arguments& arguments) const {
    if (repeated_ > 0)
      arguments.detail(
          concatenate(name, ": ", counted(repeated_, "edge repeats", "edges repeat"), " another; all are kept"));
    if (loops_ > 0)
      arguments.detail(concatenate(name, ": ", counted(loops_, "edge joins", "edges join"), " a node with itself"));
    if (are_molecules && large_ > 0) {
      arguments.detail(concatenate(name, ": ", counted(large_, "molecule of", "molecules of"), " more than ",
                                   formats::most_drawn_atoms,
                                   " atoms: no coordinates, scaffold and fingerprint of these"));
    }
  }

 private:
  Index repeated_ = 0, loops_ = 0, large_ = 0;
};

// The graphs of one command, in their order.
class GraphsOfCommand {
 public:
  GraphsOfCommand(const std::vector<std::string>& inputs, const GraphOptions& options, const SplitOptions& split,
                  const cli::Arguments& arguments)
      : inputs_(inputs),
        options_(options),
        split_(split),
        arguments_(arguments),
        provenance_(formats::start_provenance(arguments.command_line())) {}

  const formats::Provenance& provenance() const { return provenance_; }
  // The input, for messages.
  std::string name() const { return inputs_.empty() ? options_.nodes : inputs_.front(); }

  void write(const std::string& path) {
    if (!options_.nodes.empty()) return write_source(path, read_tables());
    if (!options_.smiles.empty()) return write_molecules(path);
    for (const std::string& file : formats::tu_files(inputs_.front())) {
      formats::add_input(provenance_, "graphs", file);
    }
    write_source(path, formats::read_tu_folder(inputs_.front()));
  }
  void add_graphs_file() { formats::add_input(provenance_, "graphs", inputs_.front()); }

 private:
  std::vector<std::string> label_columns() const { return split_list(split_.input.columns.label); }

  void write_source(const std::string& path, const data::GraphSource& source) {
    const bool hides = options_.hide_edges > 0;
    GraphsFileWriter writer(path, source.schema(), hides ? data::hidden_edge_targets() : source.targets());
    Oddities oddities;
    std::size_t asked = 0;
    for (Index i = 0; i < source.size(); ++i) {
      data::GraphRecord record = source.record(i);
      if (hides) {
        data::hide_edges(record, source.schema().is_directed, options_.hide_edges,
                         static_cast<std::uint64_t>(arguments_.common().seed), i);
      }
      oddities.see(record.graph);
      asked += record.graph.pairs.size();
      writer.append(record);
    }
    check<DataError>(!hides || asked > 0, name(), ": has too few edges to hide ", options_.hide_edges, " % of them");
    writer.commit(provenance_);
    oddities.report(name(), false, arguments_);
  }

  data::GraphsInMemory read_tables() {
    formats::GraphTables tables{
        .label_columns = label_columns(), .categories = options_.categories, .is_directed = options_.directed};
    const auto read = [&](formats::GraphTable& table, const std::string& path, const char* role) {
      if (path.empty()) return;
      table = {path, read_table(path, arguments_)};
      formats::add_input(provenance_, role, path);
    };
    read(tables.nodes, options_.nodes, "nodes");
    read(tables.edges, options_.edges, "edges");
    read(tables.graphs, options_.graphs, "graphs");
    read(tables.pairs, options_.pairs, "pairs");
    return formats::read_graph_tables(tables, [&](const std::string& line) { arguments_.say(line); });
  }

  void write_molecules(const std::string& path) {
    const std::string& file = inputs_.front();
    const std::string content = read_table(file, arguments_);
    const formats::MoleculeReader molecules(
        options_.features == std::vector<std::string>{"all"} ? std::vector<std::string>() : options_.features);
    const formats::NamedTable table(file, content);
    const Index smiles = table.column(options_.smiles, "--smiles");
    const std::optional<Index> id =
        options_.id_column.empty() ? std::nullopt : std::optional(table.column(options_.id_column, "--id-column"));
    read_labels(table);
    formats::BadRecords bad(file, split_.input.bad_records, "--bad-records skip");
    GraphsFileWriter writer(path, molecules.schema(), targets_);
    Oddities oddities;
    cli::Progress progress(arguments_, "molecules");
    table.for_each_row(bad, [&](const std::vector<std::string>& fields, Index line) {
      data::GraphRecord record = molecule(molecules, fields[static_cast<std::size_t>(smiles)], line);
      record.line = line;
      if (id) record.id = fields[static_cast<std::size_t>(*id)];
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        record.targets.push_back(labels_[i].value(fields[static_cast<std::size_t>(columns_[i])]));
      }
      oddities.see(record.graph);
      writer.append(record);
      progress.update(static_cast<double>(writer.graphs()), 0);
    });
    bad.check();
    if (const auto note = bad.note()) arguments_.warn(*note);
    formats::add_input(provenance_, "molecules", file);
    writer.commit(provenance_);
    oddities.report(file, true, arguments_);
  }

  data::GraphRecord molecule(const formats::MoleculeReader& molecules, const std::string& smiles, Index line) const {
    try {
      return molecules.read(smiles);
    } catch (const DataError& error) {
      throw DataError(concatenate(inputs_.front(), ":", line, ": ", error.what()));
    }
  }

  void read_labels(const formats::NamedTable& table) {
    for (const std::string& name : label_columns()) columns_.push_back(table.column(name, "--label-column"));
    if (columns_.empty() && table.find("label")) columns_.push_back(*table.find("label"));
    for (const Index column : columns_) labels_.emplace_back(table.columns()[static_cast<std::size_t>(column)]);
    if (columns_.empty()) return;
    formats::BadRecords ignored(table.file(), formats::BadRecordRule::skip);
    table.for_each_row(ignored, [&](const std::vector<std::string>& fields, Index) {
      for (std::size_t i = 0; i < columns_.size(); ++i) labels_[i].see(fields[static_cast<std::size_t>(columns_[i])]);
    });
    for (formats::LabelValues& values : labels_) targets_.columns.push_back(values.settle(table.file()));
  }

  const std::vector<std::string>& inputs_;
  const GraphOptions& options_;
  const SplitOptions& split_;
  const cli::Arguments& arguments_;
  formats::Provenance provenance_;
  std::vector<Index> columns_;  // label columns of the molecules
  std::vector<formats::LabelValues> labels_;
  data::GraphTargets targets_;
};

// ": no 125, yes 63" of one column of few classes.
std::string classes_text(const GraphsFile& file, const std::vector<bool>& chosen) {
  constexpr std::size_t most = 6;
  const data::GraphTargets& targets = file.targets();
  if (targets.columns.size() != 1 || targets.columns.front().classes.empty() ||
      targets.columns.front().classes.size() > most) {
    return "";
  }
  std::vector<Index> counts(targets.columns.front().classes.size());
  for (Index i = 0; i < file.size(); ++i) {
    if (!chosen[static_cast<std::size_t>(i)]) continue;
    for (const double value : file.values(i)) {
      if (!std::isnan(value)) ++counts.at(static_cast<std::size_t>(value));
    }
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    texts.push_back(concatenate(targets.columns.front().classes[i], " ", grouped(counts[i])));
  }
  return ": " + targets.columns.front().name + " " + join(texts);
}

// Writes one part; append(writer) puts the graphs into it.
template <class Append>
Index write_part(const GraphsFile& file, const std::string& path, const GraphsOfCommand& graphs, const Append& append) {
  GraphsFileWriter writer(path, file.schema(), file.targets());
  append(writer);
  writer.commit(graphs.provenance());
  return writer.graphs();
}

// The graph in each part, with the labels that are in the part alone.
void write_item_parts(const GraphsFile& file, const std::string& folder, const GraphsOfCommand& graphs,
                      const SplitOptions& split, const std::string& temporary, const cli::Arguments& arguments) {
  const std::vector<Index> parts = item_parts(file, split, arguments.common().seed, graphs.name());
  const std::size_t columns = file.targets().columns.size();
  const std::string level = to_text(file.targets().level);
  for (std::size_t part = 0; part < part_names.size(); ++part) {
    if (split.shares.sizes[part] == 0) continue;
    data::GraphRecord record = file.record(0);
    record.sides.clear();
    for (std::size_t i = 0; i < record.targets.size(); ++i) {
      if (parts[i / columns] != static_cast<Index>(part)) record.targets[i] = data::unknown_target;
    }
    write_part(file, concatenate(temporary, "/", part_names[part], ".h5"), graphs,
               [&](GraphsFileWriter& writer) { writer.append(record); });
    arguments.say(concatenate(folder, part_names[part], ".h5: the labels of ",
                              counted(std::ranges::count(parts, static_cast<Index>(part)), level, level + "s")));
  }
}

void write_parts(const GraphsFile& file, const std::string& output, GraphsOfCommand& graphs, const SplitOptions& split,
                 formats::AtomicDirectory& directory, const cli::Arguments& arguments) {
  const std::string folder = output.ends_with('/') ? output : output + "/";
  if (divides_items(file)) return write_item_parts(file, folder, graphs, split, directory.temporary(), arguments);
  const std::vector<Index> parts = graph_parts(file, split, arguments.common().seed, graphs.name());
  for (std::size_t part = 0; part < part_names.size(); ++part) {
    if (split.shares.sizes[part] == 0) continue;
    std::vector<bool> chosen(parts.size());
    const std::string path = concatenate(directory.temporary(), "/", part_names[part], ".h5");
    const Index count = write_part(file, path, graphs, [&](GraphsFileWriter& writer) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        chosen[i] = parts[i] == static_cast<Index>(part);
        if (chosen[i]) writer.append(file.record(static_cast<Index>(i)));
      }
    });
    arguments.say(
        concatenate(folder, part_names[part], ".h5: ", counted(count, "graph", "graphs"), classes_text(file, chosen)));
  }
}

// The parts come from a file of all graphs, which is made in the directory first, unless that is the input.
void write_split(const std::string& output, GraphsOfCommand& graphs, bool is_file, const SplitOptions& split,
                 const cli::Arguments& arguments) {
  formats::AtomicDirectory directory(output);
  if (is_file) {
    graphs.add_graphs_file();
    write_parts(GraphsFile(graphs.name()), output, graphs, split, directory, arguments);
  } else {
    const std::string whole = directory.temporary() + "/all.h5";
    graphs.write(whole);
    write_parts(GraphsFile(whole), output, graphs, split, directory, arguments);
    std::filesystem::remove(whole);
  }
  directory.commit();
}

void check_graph_usage(const std::vector<std::string>& inputs, const std::string& output, const GraphOptions& options,
                       const cli::Arguments& arguments) {
  const bool has_tables = !options.nodes.empty();
  check<UsageError>(!has_tables || options.smiles.empty(),
                    "--smiles is for tables of molecules, --nodes for tables of ", "nodes; give one of them");
  check<UsageError>(!has_tables || inputs.empty(), "--nodes and --edges name the tables; there is nothing to read in ",
                    inputs.empty() ? "" : inputs.front());
  check<UsageError>(has_tables || inputs.size() == 1, "one folder, table or file of graphs at a time");
  refuse({"average", "merge", "base", "dtype", "calibrate", "loss_on"}, arguments, ": is for models");
  refuse({"format", "text_column", "header"}, arguments, ": is for labelled texts");
  if (options.smiles.empty()) refuse({"bad_records"}, arguments, ": is for tables of molecules and labelled texts");
  if (options.smiles.empty() && !has_tables) refuse({"label_column"}, arguments, ": is for tables");
  if (!options.smiles.empty()) refuse({"hide_edges"}, arguments, ": is for graphs, not for molecules");
  if (options.hide_edges > 0) {
    refuse({"label_column", "node_pairs"}, arguments, ": with --hide-edges the hidden edges are the only labels");
  }
  check<UsageError>(arguments.given("split") || !names_directory(output), "graphs go into one file; --split writes ",
                    "parts of them into a directory");
}

}  // namespace

bool is_about_graphs(const GraphOptions& options, const std::vector<std::string>& inputs) {
  if (!options.nodes.empty() || !options.smiles.empty()) return true;
  return inputs.size() == 1 && (formats::is_tu_folder(inputs.front()) || is_graphs_file(inputs.front()));
}

void convert_graphs(const std::vector<std::string>& inputs, const std::string& output, const GraphOptions& options,
                    const SplitOptions& split, const cli::Arguments& arguments) {
  check_graph_usage(inputs, output, options, arguments);
  GraphsOfCommand graphs(inputs, options, split, arguments);
  const bool is_file = options.nodes.empty() && options.smiles.empty() && is_graphs_file(inputs.front());
  if (arguments.given("split")) return write_split(output, graphs, is_file, split, arguments);
  check<UsageError>(!is_file, inputs.front(), ": is a graphs file already; --split divides it");
  graphs.write(output);
  const GraphsFile file(output);
  arguments.say(concatenate(output, ": ", counted(file.size(), "graph", "graphs"), ", ",
                            counted(file.nodes(), "node", "nodes"), ", ", counted(file.edges(), "edge", "edges"),
                            classes_text(file, std::vector<bool>(static_cast<std::size_t>(file.size()), true))));
}

}  // namespace heddle
