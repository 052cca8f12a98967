// GGUF, the model files of llama.cpp: values by key, then the tensors. Little-endian throughout:
//
//   "GGUF", u32 version (3), u64 number of tensors, u64 number of values
//   values:  name, u32 type, value       text: u64 length, bytes;  list: u32 type, u64 length, values
//   tensors: name, u32 dimensions, u64 each, the fastest one first; u32 type, u64 offset in the elements
//   zeros to a multiple of 32 (or general.alignment), then the elements of each tensor at such a multiple
//
// Source: the format's description in the repository ggml-org/ggml, docs/gguf.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "formats/files/mapped_file.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::formats {

// Types that heddle reads and writes, by their numbers in files.
enum class GgufType : std::uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q8_0 = 8, bf16 = 30 };

// Whole numbers of any size, floating-point numbers, flags, and texts; and lists of these.
using GgufValue = std::variant<Index, double, bool, std::string, std::vector<Index>, std::vector<double>,
                               std::vector<bool>, std::vector<std::string>>;
using GgufValues = std::map<std::string, GgufValue>;

struct GgufTensor {
  std::string name;
  Shape shape;  // row-major: [rows, columns] for a matrix of so many columns, the file's first dimension
  std::uint32_t type;
  std::span<const std::byte> elements;
};

// A file, mapped.
class GgufFile {
 public:
  // Throws DataError for anything that is not as above: values and tensors that come twice, sizes beyond the file.
  explicit GgufFile(const std::string& path);

  const GgufValues& values() const { return values_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }

  // The value of a key. Throws DataError where it is missing or of another kind.
  template <class T>
  const T& get(const std::string& key) const;
  // The same, or null where it is missing.
  template <class T>
  const T* find(const std::string& key) const;

  // As heddle stores weights: F16 as Reals, the others as they are, in the file where they are aligned. Throws
  // DataError for other types, and NumericError for numbers that are not finite.
  Tensor tensor(const GgufTensor& tensor) const;

 private:
  friend class GgufReader;
  [[noreturn]] void refuse(const std::string& key, const char* problem) const;

  std::string path_;
  std::shared_ptr<MappedFile> file_;
  GgufValues values_;
  std::vector<GgufTensor> tensors_;
};

// The rows of some tensors of one type, one after another.
struct GgufOutput {
  std::string name;
  std::vector<Tensor> parts;
  GgufType type;
};

// Writes a file whole or not at all; `examine` gets its temporary name before it has its own. Whole numbers are written
// as u32, or as u64 where they are larger. Preconditions: tensors suit their types (Reals f32 or f16), and the columns
// of q8_0 and q4_0 fill blocks. Throws DataError, for numbers too large for f16 too.
using GgufExamine = std::function<void(const std::string& temporary)>;
void write_gguf(const std::string& path, const GgufValues& values, const std::vector<GgufOutput>& tensors,
                const GgufExamine& examine);

template <class T>
const T* GgufFile::find(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  const T* const value = std::get_if<T>(&found->second);
  if (value == nullptr) refuse(key, "is of another type than heddle expects");
  return value;
}

template <class T>
const T& GgufFile::get(const std::string& key) const {
  const T* const value = find<T>(key);
  if (value == nullptr) refuse(key, "is missing");
  return *value;
}

}  // namespace heddle::formats
