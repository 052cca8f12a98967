#include "heddle/formats/embedding_file.hpp"

#include "heddle/formats/column.hpp"
#include "heddle/formats/file.hpp"
#include "heddle/formats/tensor_group.hpp"

namespace heddle::formats {

void write_embeddings(const std::string& path, const Embeddings& embeddings, const Provenance& provenance) {
  OutputFile file(path, FileKind::tensors);
  {
    hdf5::Group root = file.root();
    const NamedTensor hidden{"hidden", embeddings.hidden};
    write_tensors(root, {&hidden, 1});
    if (!embeddings.ids.empty()) {
      write_column(root, "ids", embeddings.ids);
      write_column(root, "pieces", embeddings.pieces);
      write_column(root, "texts", embeddings.texts);
    }
  }
  file.commit(provenance);
}

}  // namespace heddle::formats
