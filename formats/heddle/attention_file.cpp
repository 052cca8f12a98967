#include "heddle/formats/heddle/attention_file.hpp"

#include "heddle/formats/hdf5/column.hpp"
#include "heddle/formats/heddle/problems.hpp"

namespace heddle::formats {

void write_attention(const std::string& path, const AttentionWeights& weights, const Provenance& provenance) {
  OutputFile file(path, FileKind::tensors);
  {
    hdf5::OutputGroup root = file.root();
    write_tensors(root.create_group("attention"), weights.layers);
    write_column(root, "query_pieces", weights.query_pieces);
    write_column(root, "key_pieces", weights.key_pieces);
  }
  file.commit(provenance);
}

std::vector<std::string> verify_attention(const InputFile& file) {
  Problems problems;
  problems.watch([&] {
    const auto queries = static_cast<Index>(read_column<std::string>(file.root(), "query_pieces").size());
    const auto keys = static_cast<Index>(read_column<std::string>(file.root(), "key_pieces").size());
    const TensorGroup layers(file.root().group("attention"));
    for (const std::string& problem : layers.verify()) problems.watch([&] { throw DataError(problem); });
    for (const TensorInfo& layer : layers.tensors()) {
      problems.watch([&] {
        check<DataError>(layer.shape.rank() == 3 && layer.shape[1] == queries && layer.shape[2] == keys, file.path(),
                         ": /attention/", layer.name, ": has the shape ", layer.shape, " for ", queries,
                         " queries and ", keys, " keys");
      });
    }
  });
  problems.watch([&] { file.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
