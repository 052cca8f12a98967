// The safetensors format of Hugging Face: eight bytes with the length of a header, little-endian; the header, a JSON
// object {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {"KEY": "TEXT"}}; then
// the tensors' elements, row-major and little-endian, one tensor after the other. Offsets count from the header's end.
// Source: the format's description in the repository huggingface/safetensors.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/files/mapped_file.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::formats {

enum class Safetype { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean, f8_e4m3, f8_e5m2 };

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::Safetype> {
  using T = formats::Safetype;
  static constexpr std::pair<T, std::string_view> list[] = {
      {T::f64, "F64"}, {T::f32, "F32"}, {T::f16, "F16"},      {T::bf16, "BF16"},       {T::i64, "I64"},
      {T::i32, "I32"}, {T::i16, "I16"}, {T::i8, "I8"},        {T::u64, "U64"},         {T::u32, "U32"},
      {T::u16, "U16"}, {T::u8, "U8"},   {T::boolean, "BOOL"}, {T::f8_e4m3, "F8_E4M3"}, {T::f8_e5m2, "F8_E5M2"}};
};

namespace heddle::formats {

Index bytes_of(Safetype type);

// A tensor as a view of its file.
struct Safetensor {
  std::string name;
  Safetype type = Safetype::f32;
  std::vector<Index> shape;
  std::span<const std::byte> elements;
  std::shared_ptr<const MappedFile> file;  // holds the elements

  std::shared_ptr<const std::string> path;

  std::string where() const;  // "FILE: NAME", for messages
};

// The tensors of a file, in the order of their elements. Nothing but the header is read until elements are used.
// Throws DataError for a header that is not as above, names or places that come twice, bytes that belong to no tensor,
// and shapes that do not fill their place.
std::vector<Safetensor> read_safetensors(const std::string& path);

// The elements as heddle stores weights: BF16 as bfloat16, F32, F16 and F64 (rounded) as Reals. Where they need no
// change they stay in the file and must not be written to. Throws DataError for other types, NumericError for numbers
// that are not finite.
Tensor to_tensor(const Safetensor& tensor);

// A tensor to write: Reals as F32 or F16, bfloat16 as BF16.
struct SafetensorOutput {
  std::string name;
  Tensor value;
  Safetype type;
};

// Writes a file whole or not at all. Equal tensors give equal bytes. Tensors of larger elements come first, so that all
// are aligned. Precondition: no int8, and finite numbers. Throws DataError, for numbers too large for F16 too.
void write_safetensors(const std::string& path, std::span<const SafetensorOutput> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace heddle::formats
