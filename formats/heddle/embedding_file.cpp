#include "formats/heddle/embedding_file.hpp"

#include <algorithm>
#include <cmath>

#include "formats/hdf5/column.hpp"
#include "formats/heddle/problems.hpp"
#include "formats/heddle/tensor_group.hpp"

namespace heddle::formats {

void write_embeddings(const std::string& path, const Embeddings& embeddings, const Provenance& provenance) {
  OutputFile file(path, FileKind::tensors);
  {
    hdf5::OutputGroup root = file.root();
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

namespace {

void verify_hidden(const hdf5::Dataset& hidden) {
  // A width of 0, or a data set without storage, allows any number of rows in no space.
  check<DataError>(hidden.dtype() == hdf5::DType::float32 && hidden.is_plain() && hidden.extents().size() == 2 &&
                       hidden.extents()[1] > 0 && (hidden.offset() || hidden.is_trusted()),
                   hidden.where(), ": is not a contiguous float32 matrix");
  constexpr Index rows_at_once = 4096;
  const Index rows = hidden.extents()[0], width = hidden.extents()[1];
  Checksum checksum;
  std::vector<float> part;
  for (Index first = 0; first < rows; first += rows_at_once) {
    const Index count = std::min(rows_at_once, rows - first);
    part.resize(static_cast<std::size_t>(count * width));
    hidden.read(first, count, std::span(part));
    checksum.add(part.data(), part.size() * sizeof(float));
    check<DataError>(std::ranges::all_of(part, [](float x) { return std::isfinite(x); }), hidden.where(),
                     ": has values that are not finite");
  }
  check<DataError>(hidden.attribute<std::string>(checksum_attribute) == checksum.text(), hidden.where(),
                   ": the checksum does not match. The file is damaged");
}

void verify_columns(const hdf5::Group& root, Index rows) {
  if (!root.has("ids")) return;
  const auto tokens = static_cast<std::size_t>(rows);
  check<DataError>(
      read_column<Index>(root, "ids").size() == tokens && read_column<std::string>(root, "pieces").size() == tokens,
      root.where(), ": ids and pieces must have one element for each row of hidden");
  const std::vector<Index> texts = read_column<Index>(root, "texts");
  check<DataError>(!texts.empty() && texts.front() == 0 && texts.back() == rows && std::ranges::is_sorted(texts),
                   root.where(), ": texts must rise from 0 to the number of rows");
}

}  // namespace

std::vector<std::string> verify_embeddings(const InputFile& file) {
  Problems problems;
  problems.watch([&] {
    const hdf5::Dataset hidden = file.root().dataset("hidden");
    problems.watch([&] { verify_hidden(hidden); });
    if (hidden.extents().size() == 2) problems.watch([&] { verify_columns(file.root(), hidden.extents()[0]); });
  });
  problems.watch([&] { file.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
