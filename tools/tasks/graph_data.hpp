// The examples of graphs files.
#pragma once

#include <memory>
#include <string>

#include "formats/labelled/labelled_line.hpp"
#include "libcore/data/graphs.hpp"
#include "libcore/data/label_set.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

// Task that the labels of a graphs file define: a class or a number of each graph, a class of each node, edge or pair,
// or of each of several labels. `column` names the labels, or several as A,B; "": all. Throws DataError where there is
// none, and UsageError for a name that is none of them.
models::Task task_of_graphs(const std::string& path, const std::string& column);

// The examples of a graphs file: texts, of which each is the parts of a graph as words, for models that count words, or
// sentences, whose words are the nodes, edges or pairs. Examples whose label is not known are left out where gold
// labels are needed. Throws DataError, and UsageError for a task, or a level, that the file has no labels for.
TaskData read_graphs(const std::string& path, const TaskInput& input);

// Makes the graphs of several files those of one source, for the examples of all files in order.
void join_graphs(TaskData& all, const std::vector<TaskData>& files);

// Whether the nodes, edges or pairs of a single graph are all that is known, so that these are what is divided and
// drawn, not graphs.
bool is_one_graph(const TaskData& data);
// Each of its parts as an example of its own, and examples of one graph as one. Precondition: is_one_graph(), or what
// with_parts_apart() made of such data, or some of it.
TaskData with_parts_apart(const TaskData& data);
TaskData with_parts_together(TaskData data);

// For each example the number of its graph, from 0. Precondition: the examples are graphs.
std::vector<Index> graph_numbers(const TaskData& data);

// The columns of the graphs, with the mean and the standard deviation of each number over the examples' graphs.
// Precondition: all examples are graphs of one schema.
data::GraphSchema measured_features(const std::vector<TaskData>& files);

// One example for each graph, in order; labels that are none of the set have -1 for theirs.
struct EncodeGraphs {
  models::Task task;
  const data::LabelSet& labels;
  const data::GraphSchema& features;  // features that the model reads
  formats::Gold gold;
};
// Throws DataError for data that are no graphs, or lack a column of the features.
std::vector<data::TaskExample> encode_graphs(const TaskData& data, const EncodeGraphs& encoding);

}  // namespace heddle
