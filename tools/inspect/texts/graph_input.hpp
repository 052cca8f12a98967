// A graph that inspect attention looks at, with the model that reads it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/heddle/task_file.hpp"
#include "libcore/data/graphs.hpp"

namespace heddle {

struct GivenGraph {
  std::string file;
  Index number = 0;  // number in the file, from 0
  data::GraphSchema schema;
  data::GraphRecord record;  // as stored in the file
  data::Graph graph;         // with the columns that the model reads

  // "graph 3, CCO"
  std::string title() const;
};

// `which` is the number of the graph, from 1, or its id. Throws DataError where the file has no such graph, and where
// it lacks a feature that the model reads.
GivenGraph read_graph(const std::string& path, const std::string& which, const data::GraphSchema& features);

// The fine-tuned model of a file, which has the role that `user` needs of models of graphs. Throws DataError for other
// models, as load_task() does.
template <class Role>
formats::LoadedTask load_graph_model(const std::string& path, const std::string& base, const std::string& user) {
  if (formats::kind_of(path) == formats::FileKind::model) {
    models::require<Role>(*models::outline_of(formats::checked_config(formats::ModelFile(path))), user, path);
  }
  formats::LoadedTask loaded = formats::load_task(path, base);
  models::require<Role>(loaded.model->body(), user, path);
  return loaded;
}

// The model alone, which may have no task.
template <class Role>
std::shared_ptr<const models::Model> load_graph_body(const std::string& path, const std::string& base,
                                                     const std::string& user) {
  if (base.empty() && formats::kind_of(path) == formats::FileKind::model) {
    const formats::ModelFile file(path);
    models::require<Role>(*models::outline_of(formats::checked_config(file)), user, path);
    return formats::load_weights(file);
  }
  const auto loaded = std::make_shared<const formats::LoadedTask>(load_graph_model<Role>(path, base, user));
  return {loaded, &loaded->model->body()};
}

}  // namespace heddle
