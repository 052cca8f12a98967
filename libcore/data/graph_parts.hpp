// Graphs of several sources as one, and some graphs of a source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcore/data/graphs.hpp"

namespace heddle::data {

// One source after the other, with the columns that a model reads: kinds and columns by their names. Labels are those
// of each source, whatever the first one's mean.
class GraphsForModel : public GraphSource {
 public:
  // Throws DataError where the graphs of a source lack a column. Precondition: at least one source, none null.
  GraphsForModel(std::vector<std::shared_ptr<const GraphSource>> sources, const GraphSchema& features);

  std::string name() const override;
  Index size() const override { return ends_.back(); }
  const GraphSchema& schema() const override { return features_; }
  const GraphTargets& targets() const override { return sources_.front()->targets(); }
  GraphRecord record(Index number) const override;
  Graph graph(Index number) const override;
  Index nodes(Index number) const override;
  std::string name_of(Index number) const override;
  Index number_in_file(Index number) const override { return at(number).number; }

 private:
  struct Place {
    std::size_t source;
    Index number;  // number of the graph there
  };
  Place at(Index number) const;

  std::vector<std::shared_ptr<const GraphSource>> sources_;
  std::vector<SchemaMap> maps_;
  std::vector<Index> ends_;
  GraphSchema features_;
};

// Some of another source's graphs, given by their numbers there. The source must stay.
class GraphsOf : public GraphSource {
 public:
  // Throws DataError for numbers outside the source.
  GraphsOf(const GraphSource& source, std::vector<Index> graphs);

  std::string name() const override { return source_.name(); }
  Index size() const override { return static_cast<Index>(graphs_.size()); }
  const GraphSchema& schema() const override { return source_.schema(); }
  const GraphTargets& targets() const override { return source_.targets(); }
  GraphRecord record(Index number) const override { return source_.record(at(number)); }
  Graph graph(Index number) const override { return source_.graph(at(number)); }
  Index nodes(Index number) const override { return source_.nodes(at(number)); }
  std::string name_of(Index number) const override { return source_.name_of(at(number)); }
  Index number_in_file(Index number) const override { return source_.number_in_file(at(number)); }

 private:
  Index at(Index number) const { return graphs_.at(static_cast<std::size_t>(number)); }

  const GraphSource& source_;
  std::vector<Index> graphs_;
};

// The nodes of each edge or pair, in order; none where the level is another one.
std::vector<NodePair> ends_of_items(const Graph& graph, GraphLevel level);
// The same for all items that join the same nodes, in either order where there are no directions.
std::uint64_t key_of_ends(const NodePair& ends, bool is_directed);

// The nodes of all graphs.
Index nodes_in(const GraphSource& graphs);

}  // namespace heddle::data
