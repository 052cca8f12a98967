// Collections of graphs as TU Dortmund publishes them (https://chrsmrrs.github.io/datasets): a folder with the files
// DS_A.txt, DS_graph_indicator.txt and, as far as it has them, DS_graph_labels.txt, DS_graph_attributes.txt,
// DS_node_labels.txt, DS_node_attributes.txt, DS_edge_labels.txt and DS_edge_attributes.txt.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/graphs.hpp"

namespace heddle::formats {

// Whether the folder has a file that ends in _A.txt.
bool is_tu_folder(const std::string& folder);

// The files of the collection, for provenance. Throws DataError for a folder with several collections, or none.
std::vector<std::string> tu_files(const std::string& folder);

// All of its graphs, in memory. Labels of nodes and edges are categories "label" with the codes as kinds, attributes
// are numbers "attribute_1" and so on; labels of graphs are classes "label", attributes of graphs are targets that are
// numbers. The graphs have directions where an edge lacks its reverse with equal features. Throws DataError,
// "FILE:LINE: …".
data::GraphsInMemory read_tu_folder(const std::string& folder);

}  // namespace heddle::formats
