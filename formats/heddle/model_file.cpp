#include "formats/heddle/model_file.hpp"

#include <algorithm>

#include "formats/heddle/problems.hpp"

namespace heddle::formats {

void ModelWriter::weights(std::span<const TensorSource> weights) {
  bool is_reduced = false, is_in_blocks = false;
  std::vector<TensorSource> watched;
  for (const TensorSource& source : weights) {
    watched.push_back({source.name, [&] {
                         Tensor tensor = source.get();
                         is_reduced = is_reduced || tensor.dtype() != DType::real;
                         is_in_blocks = is_in_blocks || block_of(tensor.dtype()).elements > 1;
                         return tensor;
                       }});
  }
  write_tensors(file_.root().create_group("weights"), watched);
  if (is_reduced) file_.needs_version(2);
  if (is_in_blocks) file_.needs_version(7);
  file_.check_written();
}

void ModelWriter::history(const History& history) {
  write_history(file_.root().create_group("history"), history);
}

void ModelWriter::training_tensors(std::span<const TensorSource> tensors) {
  write_tensors(file_.root().group("training").create_group("tensors"), tensors);
  file_.check_written();
}

namespace {

const InputFile& checked(const InputFile& file, FileKind kind) {
  const FileHeader& header = file.expect(kind).header();
  check<DataError>(header.format_version >= oldest_model_version, file.path(), ": is a model of format version ",
                   header.format_version, ", made by ", header.created_by, "; this program reads models of version ",
                   oldest_model_version, " and newer; use that program, or train the model again with this one");
  return file;
}

}  // namespace

ModelFile::ModelFile(const std::string& path, FileKind kind)
    : file_(path), weights_(checked(file_, kind).root().group("weights")) {}

std::vector<NamedTensor> ModelFile::map_weights() const {
  return weights_.map(std::make_shared<const MappedFile>(file_.descriptor()));
}

History ModelFile::history() const {
  return has_history() ? read_history(file_.root().group("history")) : History();
}

std::vector<std::string> ModelFile::verify() const {
  Problems problems;
  problems.add(weights_.verify());
  if (file_.root().has_group("tokenizer")) problems.watch([&] { tokenizer(); });
  problems.watch([&] { history(); });
  problems.watch([&] { file_.provenance(); });
  if (has_training()) problems.watch([&] { problems.add(training_tensors().verify()); });
  return problems.list();
}

}  // namespace heddle::formats
