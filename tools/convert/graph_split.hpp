// Assigns each graph of a file, or each labelled node or edge of a single graph, to a part of a split.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/graphs_file.hpp"
#include "tools/convert/split.hpp"

namespace heddle {

// The part of each graph: train 0, valid 1, test 2. Equal graphs (molecules with equal circular fingerprints) are in
// one part, by class or at random; of `scaffold`, those with one scaffold are. Throws DataError, which `name` begins,
// where the graphs cannot be split so.
//
// Scaffolds: groups from the largest to the smallest, among equals the one whose first member comes last first, go into
// train as long as they fit, else into valid if they fit, else into test. Source: Wu et al. 2018, as DeepChem does it.
std::vector<Index> graph_parts(const formats::GraphsFile& file, const SplitOptions& options, Index seed,
                               const std::string& name);

// Whether nodes or edges are divided: of a single graph in which they have labels.
bool divides_items(const formats::GraphsFile& file);

// The part of each of these, -1 of one without a label. Both ways of an edge without a direction are in one part.
// Throws DataError.
std::vector<Index> item_parts(const formats::GraphsFile& file, const SplitOptions& options, Index seed,
                              const std::string& name);

}  // namespace heddle
