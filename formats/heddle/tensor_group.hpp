// Tensors in a group of a file: the tensor "decoder/3/attention/query/weight" is the contiguous data set of that path
// below the group: float32, bfloat16, or int8 with a float32 vector "….scales" beside it, one scale per row; a matrix
// in blocks (q8, q4) is int8 [rows, bytes of a row], with the attributes format and columns. Each data set has its
// checksum in the attribute xxh128.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/files/mapped_file.hpp"
#include "formats/hdf5/hdf5.hpp"
#include "formats/hdf5/writer.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::formats {

struct NamedTensor {
  std::string name;
  Tensor value;
};

struct TensorInfo {
  std::string name;
  Shape shape;
  DType dtype;
  Index offset;  // offset of the first byte in the file
};

// A tensor that is fetched when it is written: twice, for its checksum and for its elements, and not kept meanwhile.
struct TensorSource {
  std::string name;
  std::function<Tensor()> get;
};

// Sources of tensors in memory.
std::vector<TensorSource> sources_of(std::span<const NamedTensor> tensors);

// Writes straight from the tensors' memory. Their elements follow one another in the order given, those of 64 bytes and
// more at the next multiple of 64 bytes, so that what is multiplied as one can be mapped as one.
void write_tensors(const hdf5::OutputGroup& group, std::span<const TensorSource> tensors);
void write_tensors(const hdf5::OutputGroup& group, std::span<const NamedTensor> tensors);

class TensorGroup {
 public:
  // Reads names, shapes and types. Throws DataError for anything that is not a tensor as above.
  explicit TensorGroup(const hdf5::Group& group);

  // Group by group, in the order in which these and their parts were written.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  Index parameters() const;  // elements of all tensors

  // Identifies these tensors: a hash of all names and checksums. Does not read the elements.
  std::string fingerprint() const;

  // Throws DataError unless the targets have exactly the group's names and shapes, except other names, which only the
  // group may have; elements are not read.
  using OtherNames = std::function<bool(const std::string& name)>;
  void check_match(std::span<const NamedTensor> targets, const OtherNames& others = no_others) const;

  // Sets the elements of the given tensors, which are Reals whatever the file has. Throws DataError, before anything is
  // read, unless these are just the group's names and shapes; and for a checksum that does not match.
  void read(std::span<const NamedTensor> targets, const OtherNames& others = no_others) const;
  bool has(std::string_view name) const { return numbers_.find(std::string(name)) != numbers_.end(); }
  // All tensors as they are stored, in newly allocated memory.
  std::vector<NamedTensor> read() const;

  // Tensors as views of the mapped file, which they keep alive. They are read-only, and their checksums are not
  // verified: except for scales, nothing is read until it is used. (A tensor that other programs stored unaligned is
  // read at once.)
  std::vector<NamedTensor> map(const std::shared_ptr<const MappedFile>& file) const;
  // Tensors of one shape [rows, …] as one, [names * rows, …]. If they are not contiguous in the file, they are copied.
  Tensor map(std::span<const std::string> names, const std::shared_ptr<const MappedFile>& file) const;

  // Reads everything. Throws DataError for damage, NumericError for values that are not finite.
  void require_sound() const;
  // The same, but returns the problems, one line each.
  std::vector<std::string> verify() const;

 private:
  static bool no_others(const std::string&) { return false; }
  struct Budget;
  void list(const hdf5::Group& group, const std::string& prefix, Budget& budget);
  void add(const std::string& name, hdf5::Dataset dataset);
  void add_scales(const std::string& name, hdf5::Dataset dataset);
  std::size_t number_of(const std::string& name) const;
  Tensor read(std::size_t number) const;
  bool lie_together(std::span<const std::size_t> numbers) const;
  Tensor map(std::size_t first, Index count, const std::shared_ptr<const MappedFile>& file) const;

  std::string where_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::size_t> numbers_;  // index by name
  std::vector<hdf5::Dataset> datasets_;         // beside tensors_
  std::vector<std::optional<hdf5::Dataset>> scales_;
};

}  // namespace heddle::formats
