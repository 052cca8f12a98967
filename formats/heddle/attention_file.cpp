#include "formats/heddle/attention_file.hpp"

#include "formats/hdf5/column.hpp"
#include "formats/heddle/problems.hpp"

namespace heddle::formats {

namespace {

Index count_of(const hdf5::Group& pieces, const std::string& group) {
  return static_cast<Index>(read_column<std::string>(pieces, group).size());
}

}  // namespace

void write_attention(const std::string& path, const AttentionWeights& weights, const Provenance& provenance) {
  OutputFile file(path, FileKind::tensors);
  {
    hdf5::OutputGroup root = file.root();
    std::vector<NamedTensor> layers;
    for (const AttentionGroup& group : weights) {
      for (const NamedTensor& layer : group.layers) layers.push_back({group.name + "/" + layer.name, layer.value});
    }
    write_tensors(root.create_group("attention"), layers);
    hdf5::OutputGroup queries = root.create_group("query_pieces");
    for (const AttentionGroup& group : weights) write_column(queries, group.name, group.query_pieces);
    hdf5::OutputGroup keys = root.create_group("key_pieces");
    for (const AttentionGroup& group : weights) write_column(keys, group.name, group.key_pieces);
  }
  file.commit(provenance);
}

std::vector<std::string> verify_attention(const InputFile& file) {
  Problems problems;
  problems.watch([&] {
    const TensorGroup layers(file.root().group("attention"));
    const hdf5::Group queries = file.root().group("query_pieces"), keys = file.root().group("key_pieces");
    for (const std::string& problem : layers.verify()) problems.watch([&] { throw DataError(problem); });
    for (const TensorInfo& layer : layers.tensors()) {
      problems.watch([&] {
        const std::string group = layer.name.substr(0, layer.name.find('/'));
        const Index query_count = count_of(queries, group), key_count = count_of(keys, group);
        check<DataError>(layer.shape.rank() == 3 && layer.shape[1] == query_count && layer.shape[2] == key_count,
                         file.path(), ": /attention/", layer.name, ": has the shape ", layer.shape, " for ",
                         query_count, " queries and ", key_count, " keys");
      });
    }
  });
  problems.watch([&] { file.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
