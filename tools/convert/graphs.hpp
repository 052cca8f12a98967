// Makes graphs files, and splits them.
#pragma once

#include <string>
#include <vector>

#include "formats/chemical/smiles.hpp"
#include "libcore/base/visit.hpp"
#include "tools/convert/split.hpp"

namespace heddle {

struct GraphOptions {
  std::string smiles, id_column;
  std::vector<std::string> features{"all"};
  std::string nodes, edges, graphs, pairs;
  Index hide_edges = 0;  // percent; 0: none
  bool directed = false;
  std::vector<std::string> categories;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("smiles", "column of a table (CSV or TSV) with molecules as SMILES")
                .not_empty()
                .takes("COLUMN")
                .essential(),
            self.smiles);
    visitor(Field("id_column", "column of the table that names the molecules; default: their SMILES")
                .needs({"smiles"})
                .not_empty()
                .takes("COLUMN"),
            self.id_column);
    visitor(Field("features", concatenate("features of atoms and bonds: all, or some of ",
                                          join({formats::molecule_features.begin(), formats::molecule_features.end()})))
                .needs({"smiles"})
                .takes("LIST"),
            self.features);
    visitor(Field("nodes", "table (CSV or TSV) of the nodes of graphs")
                .needs({"edges"})
                .not_empty()
                .takes("TABLE")
                .essential(),
            self.nodes);
    visitor(Field("edges", "table of the edges between them").needs({"nodes"}).not_empty().takes("TABLE").essential(),
            self.edges);
    visitor(Field("graphs", "table of labels of whole graphs, one row per graph")
                .needs({"nodes"})
                .not_empty()
                .takes("TABLE"),
            self.graphs);
    visitor(Field("node_pairs", "table of pairs of nodes with labels, or to be labelled")
                .needs({"nodes"})
                .not_empty()
                .takes("TABLE"),
            self.pairs);
    visitor(Field("hide_edges",
                  "hide this percentage of the edges and make them the labels, beside as many pairs without one")
                .range(1, 100)
                .word(0, "none")
                .takes("PERCENT"),
            self.hide_edges);
    visitor(Field("directed", "edges lead from source to target alone").needs({"nodes"}), self.directed);
    visitor(Field("categories", "columns of the tables that are categories although all of their values are numbers")
                .needs({"nodes"})
                .takes("LIST"),
            self.categories);
  }
};

// Whether the command makes graphs: by its options, or because the input is a folder of TU Dortmund's or a graphs file.
bool is_about_graphs(const GraphOptions& options, const std::vector<std::string>& inputs);

// Writes the graphs file, or with --split DIR/train.h5, DIR/valid.h5 and DIR/test.h5. Throws UsageError and DataError;
// then nothing is written.
void convert_graphs(const std::vector<std::string>& inputs, const std::string& output, const GraphOptions& options,
                    const SplitOptions& split, const cli::Arguments& arguments);

}  // namespace heddle
