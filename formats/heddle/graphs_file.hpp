// Graphs files: graphs with features of their nodes and edges, and what is known of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/hdf5/lists.hpp"
#include "formats/heddle/file.hpp"
#include "libcore/data/graphs.hpp"

namespace heddle::formats {

// Writes a graphs file graph by graph in constant memory. Without commit() no file appears.
class GraphsFileWriter {
 public:
  // The means and standard deviations of the schema's numbers are replaced by those of the graphs.
  GraphsFileWriter(const std::string& path, data::GraphSchema schema, data::GraphTargets targets);
  ~GraphsFileWriter();

  // Throws DataError, which names the record by its id or number, for one that does not fit, and when the disk is full.
  void append(const data::GraphRecord& record);
  // Throws DataError for a file without graphs.
  void commit(const Provenance& provenance);

  Index graphs() const { return graphs_; }
  Index nodes() const { return nodes_; }
  Index edges() const { return edges_; }

 private:
  struct Columns;

  OutputFile file_;
  std::string path_;
  data::GraphSchema schema_;
  data::GraphTargets targets_;
  Index graphs_ = 0, nodes_ = 0, edges_ = 0;
  std::unique_ptr<Columns> columns_;
};

// Reads a graphs file, a graph in time that depends on its own size alone; any thread may call any function.
class GraphsFile : public data::GraphSource {
 public:
  // Throws DataError unless it is a graphs file.
  explicit GraphsFile(const std::string& path);
  ~GraphsFile() override;

  std::string name() const override { return file_.path(); }
  Index size() const override { return size_; }
  const data::GraphSchema& schema() const override { return schema_; }
  const data::GraphTargets& targets() const override { return targets_; }
  data::GraphRecord record(Index number) const override;
  data::Graph graph(Index number) const override;
  Index nodes(Index number) const override;
  // The graph without features.
  data::Graph structure(Index number) const;
  // Its targets: [items, columns].
  std::vector<double> values(Index number) const;
  std::vector<data::SplitSide> sides(Index number) const;
  std::string group(Index number) const;
  std::string id(Index number) const;

  const InputFile& file() const { return file_; }
  Index nodes() const { return nodes_; }
  Index edges() const { return edges_; }
  Index pairs() const;
  bool has_sides() const;
  bool has_groups() const;
  // Parts that the records have, of ids, lines, groups, fragments, positions, node names and sides, for people.
  std::vector<std::string> parts() const;

  // Reads everything and returns the problems, one line each; empty if there are none.
  std::vector<std::string> verify() const;

 private:
  struct Columns;
  struct Range {
    Index first, last;
    Index count() const { return last - first; }
  };
  Range nodes_of(Index number) const;
  Range edges_of(Index number) const;
  data::Graph structure(Range nodes, Range edges) const;
  data::Graph graph(Range nodes, Range edges, Index number) const;
  Range pairs_of(Index number) const;
  std::vector<data::NodePair> pairs(Index number) const;
  // Labelled items of a graph, numbered through the file.
  Range items_of(Index number) const;
  std::string place(Index number) const;

  InputFile file_;
  data::GraphSchema schema_;
  data::GraphTargets targets_;
  Index size_ = 0, nodes_ = 0, edges_ = 0;
  std::unique_ptr<const Columns> columns_;
};

}  // namespace heddle::formats
