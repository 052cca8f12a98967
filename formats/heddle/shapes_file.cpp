#include "formats/heddle/shapes_file.hpp"

#include <map>

#include "formats/hdf5/column.hpp"
#include "formats/heddle/problems.hpp"
#include "formats/heddle/tensor_group.hpp"

namespace heddle::formats {

namespace {

Tensor vector_of(const std::vector<Real>& numbers) {
  return {Shape{static_cast<Index>(numbers.size())}, numbers};
}

// The number of rows, or columns, that the file has labels for; none: it has none.
std::optional<Index> labels_of(const InputFile& file, const std::map<std::string, Shape>& tensors,
                               const std::string& name, const std::string& which) {
  const auto numbers = tensors.find(name + "/" + which);
  if (numbers != tensors.end()) return numbers->second.size();
  const std::string column = name + "_" + which;
  if (!file.root().has(column)) return std::nullopt;
  return static_cast<Index>(read_column<std::string>(file.root(), column).size());
}

}  // namespace

void write_shapes(const std::string& path, const std::vector<ShapeData>& shapes, const Provenance& provenance) {
  OutputFile file(path, FileKind::tensors);
  {
    hdf5::OutputGroup root = file.root();
    std::vector<NamedTensor> tensors;
    for (const ShapeData& shape : shapes) {
      tensors.push_back({shape.name + "/values", shape.values});
      for (const auto& [which, labels] : {std::pair{"rows", &shape.rows}, std::pair{"columns", &shape.columns}}) {
        if (labels->names.empty()) {
          tensors.push_back({shape.name + "/" + which, vector_of(labels->numbers)});
        } else {
          write_column(root, shape.name + "_" + which, labels->names);
        }
      }
    }
    write_tensors(root.create_group("shapes"), tensors);
  }
  file.commit(provenance);
}

std::vector<std::string> verify_shapes(const InputFile& file) {
  Problems problems;
  problems.watch([&] {
    const TensorGroup group(file.root().group("shapes"));
    problems.add(group.verify());
    std::map<std::string, Shape> tensors;
    for (const TensorInfo& tensor : group.tensors()) tensors.emplace(tensor.name, tensor.shape);
    for (const auto& tensor : tensors) {
      const std::string& name = tensor.first;
      const Shape& shape = tensor.second;
      if (!name.ends_with("/values")) continue;
      const std::string table = name.substr(0, name.rfind('/'));
      problems.watch([&] {
        const auto rows = labels_of(file, tensors, table, "rows"), columns = labels_of(file, tensors, table, "columns");
        check<DataError>(shape.rank() == 2 && rows == shape[0] && columns == shape[1], file.path(), ": /shapes/", name,
                         ": has the shape ", shape, " for ", rows.value_or(0), " rows and ", columns.value_or(0),
                         " columns");
      });
    }
  });
  problems.watch([&] { file.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
