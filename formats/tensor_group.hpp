// Tensors in a group of a file: the tensor "decoder/3/attention/query/weight" is the contiguous data set of that path
// below the group, float32, with its checksum in the attribute xxh128.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/formats/hdf5.hpp"
#include "heddle/formats/mapped_file.hpp"
#include "heddle/tensor/tensor.hpp"

namespace heddle::formats {

struct NamedTensor {
  std::string name;
  Tensor value;
};

struct TensorInfo {
  std::string name;
  Shape shape;
  std::string type;  // "float32"
  Index offset;      // of the first byte in the file
};

// Writes straight from the tensors' memory, in the order given.
void write_tensors(const hdf5::Group& group, std::span<const NamedTensor> tensors);

class TensorGroup {
 public:
  // Reads names, shapes and types. Throws DataError for anything that is not a tensor as above.
  explicit TensorGroup(const hdf5::Group& group);

  // In the order in which they were written.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  Index parameters() const;  // elements of all tensors

  // Throws DataError unless the targets are just the group's names and shapes; their elements are not touched.
  void check_match(std::span<const NamedTensor> targets) const;

  // Sets the elements of the given tensors. Throws DataError, before anything is read, unless these are just the
  // group's names and shapes; and for a checksum that does not match.
  void read(std::span<const NamedTensor> targets) const;
  // All tensors, in newly allocated memory.
  std::vector<NamedTensor> read() const;
  // All tensors where they lie in the mapped file, which they keep alive. They must not be written to, and their
  // checksums are not computed: nothing is read until it is used. (Other programs may have placed a tensor so that
  // processors cannot read it in place; such a one is read at once.)
  std::vector<NamedTensor> map(const std::shared_ptr<const MappedFile>& file) const;

  // Reads everything and returns what is wrong (checksums, values that are not finite), a line each.
  std::vector<std::string> verify() const;

 private:
  struct Budget;
  void list(const hdf5::Group& group, const std::string& prefix, Budget& budget);
  void add(const std::string& name, hdf5::Dataset dataset);
  void read_checked(std::size_t number, const Tensor& target) const;

  std::string where_;
  std::vector<TensorInfo> tensors_;
  std::vector<hdf5::Dataset> datasets_;  // beside tensors_
};

}  // namespace heddle::formats
