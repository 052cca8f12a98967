#include "formats/gguf/gguf.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/tensor/half.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

static_assert(std::endian::native == std::endian::little, "numbers are read and written as they lie in memory");

// The types of values, as files number them.
enum class GgufValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, list, u64, i64, f64 };

namespace {

constexpr std::string_view gguf_magic = "GGUF";
constexpr std::uint64_t default_alignment = 32;
constexpr const char* alignment_key = "general.alignment";
// More in a header than any model has.
constexpr std::uint64_t most_entries = 1 << 20;

struct TypeInfo {
  GgufType type;
  const char* name;
  DType dtype;  // dtype in memory
};
constexpr TypeInfo gguf_types[] = {{GgufType::f32, "F32", DType::real},
                                   {GgufType::f16, "F16", DType::real},
                                   {GgufType::q4_0, "Q4_0", DType::q4},
                                   {GgufType::q8_0, "Q8_0", DType::q8},
                                   {GgufType::bf16, "BF16", DType::bfloat16}};

const TypeInfo* find_type(std::uint32_t type) {
  const auto* const found = std::ranges::find_if(
      gguf_types, [&](const TypeInfo& one) { return static_cast<std::uint32_t>(one.type) == type; });
  return found == std::end(gguf_types) ? nullptr : found;
}

// In files.
Index bytes_of_row(GgufType type, Index columns) {
  if (type == GgufType::f32) return 4 * columns;
  return type == GgufType::f16 ? 2 * columns
                               : heddle::bytes_of_row(find_type(static_cast<std::uint32_t>(type))->dtype, columns);
}

}  // namespace

class GgufReader {
 public:
  explicit GgufReader(GgufFile& file) : file_(file), data_(file.file_->data()), size_(file.file_->size()) {}

  void read() {
    check<DataError>(size_ >= gguf_magic.size() && std::memcmp(data_, gguf_magic.data(), gguf_magic.size()) == 0,
                     file_.path_, ": is not a GGUF file");
    at_ = gguf_magic.size();
    const auto version = number<std::uint32_t>();
    check<DataError>(version == 2 || version == 3, file_.path_, ": is GGUF of version ", version,
                     "; heddle reads versions 2 and 3");
    const std::uint64_t tensors = count(), values = count();
    for (std::uint64_t i = 0; i < values; ++i) {
      const std::string key = string();
      check<DataError>(file_.values_.emplace(key, value(value_type())).second, file_.path_, ": ", text::quoted(key),
                       " comes twice");
    }
    for (std::uint64_t i = 0; i < tensors; ++i) file_.tensors_.push_back(tensor());
    place_elements();
  }

 private:
  void need(std::uint64_t bytes) const {
    check<DataError>(bytes <= size_ - at_, file_.path_, ": ends within its header. It is truncated or damaged");
  }

  template <class T>
  T number() {
    need(sizeof(T));
    T value;
    std::memcpy(&value, data_ + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  GgufValueType value_type() { return static_cast<GgufValueType>(number<std::uint32_t>()); }

  std::uint64_t count() {
    const auto entries = number<std::uint64_t>();
    check<DataError>(entries <= most_entries, file_.path_, ": says that it has ", entries,
                     " entries of a kind. It is damaged");
    return entries;
  }

  std::string string() {
    const auto length = number<std::uint64_t>();
    need(length);
    std::string value(reinterpret_cast<const char*>(data_ + at_), length);
    at_ += length;
    return value;
  }

  Index whole(GgufValueType type) {
    switch (type) {
      case GgufValueType::u8:
        return number<std::uint8_t>();
      case GgufValueType::i8:
        return number<std::int8_t>();
      case GgufValueType::u16:
        return number<std::uint16_t>();
      case GgufValueType::i16:
        return number<std::int16_t>();
      case GgufValueType::u32:
        return number<std::uint32_t>();
      case GgufValueType::i32:
        return number<std::int32_t>();
      case GgufValueType::i64:
        return number<std::int64_t>();
      default: {
        const auto value = number<std::uint64_t>();
        check<DataError>(value <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max()), file_.path_,
                         ": has the number ", value, ", which is too large");
        return static_cast<Index>(value);
      }
    }
  }
  double real(GgufValueType type) { return type == GgufValueType::f32 ? number<float>() : number<double>(); }

  template <class T, class Read>
  std::vector<T> list_of(std::uint64_t length, const Read& read) {
    need(length);  // an element has a byte at least
    std::vector<T> values;
    for (std::uint64_t i = 0; i < length; ++i) values.push_back(read());
    return values;
  }

  GgufValue value(GgufValueType type) {
    switch (type) {
      case GgufValueType::f32:
      case GgufValueType::f64:
        return real(type);
      case GgufValueType::flag:
        return number<std::uint8_t>() != 0;
      case GgufValueType::text:
        return string();
      case GgufValueType::list:
        return values_of_list();
      default:
        check_value_type(type);
        return whole(type);
    }
  }

  GgufValue values_of_list() {
    const GgufValueType type = value_type();
    const auto length = number<std::uint64_t>();
    switch (type) {
      case GgufValueType::f32:
      case GgufValueType::f64:
        return list_of<double>(length, [&] { return real(type); });
      case GgufValueType::flag:
        return list_of<bool>(length, [&] { return number<std::uint8_t>() != 0; });
      case GgufValueType::text:
        return list_of<std::string>(length, [&] { return string(); });
      default:
        check<DataError>(type != GgufValueType::list, file_.path_, ": has a list of lists, which heddle does not read");
        check_value_type(type);
        return list_of<Index>(length, [&] { return whole(type); });
    }
  }

  void check_value_type(GgufValueType type) const {
    check<DataError>(type <= GgufValueType::f64, file_.path_, ": has a value of the unknown type ",
                     static_cast<std::uint32_t>(type), ". It is damaged");
  }

  GgufTensor tensor() {
    GgufTensor tensor{string(), {}, 0, {}};
    const auto where = [&] { return concatenate(file_.path_, ": the tensor ", text::quoted(tensor.name)); };
    check<DataError>(names_.insert(tensor.name).second, where(), " comes twice");
    const auto rank = number<std::uint32_t>();
    check<DataError>(rank >= 1 && rank <= static_cast<std::uint32_t>(Shape::max_rank), where(), " has ", rank,
                     " dimensions");
    std::vector<Index> extents(rank);
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto extent = number<std::uint64_t>();
      check<DataError>(extent > 0 && extent <= (std::uint64_t{1} << 40) / elements, where(), " is too large");
      elements *= extent;
      extents[rank - 1 - i] = static_cast<Index>(extent);
    }
    tensor.shape = Shape(extents);
    tensor.type = number<std::uint32_t>();
    offsets_.push_back(number<std::uint64_t>());
    return tensor;
  }

  std::uint64_t alignment() const {
    const Index* const given = file_.find<Index>(alignment_key);
    check<DataError>(given == nullptr || (*given > 0 && *given <= 1 << 20), file_.path_, ": ", alignment_key, " is ",
                     given == nullptr ? 0 : *given);
    return given == nullptr ? default_alignment : static_cast<std::uint64_t>(*given);
  }

  // Only the beginning of tensors of other types is known.
  void place_elements() {
    const std::uint64_t begin = (at_ + alignment() - 1) / alignment() * alignment();
    for (std::size_t i = 0; i < file_.tensors_.size(); ++i) {
      GgufTensor& tensor = file_.tensors_[i];
      const TypeInfo* const type = find_type(tensor.type);
      const auto bytes = type == nullptr ? std::uint64_t{0}
                                         : static_cast<std::uint64_t>(tensor.shape.size() / tensor.shape[-1] *
                                                                      bytes_of_row(type->type, tensor.shape[-1]));
      check<DataError>(begin <= size_ && offsets_[i] <= size_ - begin && bytes <= size_ - begin - offsets_[i],
                       file_.path_, ": the tensor ", text::quoted(tensor.name),
                       " lies beyond the end of the file. It is truncated or damaged");
      tensor.elements = {data_ + begin + offsets_[i], bytes};
    }
  }

  GgufFile& file_;
  const std::byte* data_;
  std::size_t size_, at_ = 0;
  std::set<std::string> names_;
  std::vector<std::uint64_t> offsets_;
};

GgufFile::GgufFile(const std::string& path)
    : path_(path), file_(std::make_shared<MappedFile>(Descriptor::open_for_reading(path))) {
  GgufReader(*this).read();
}

void GgufFile::refuse(const std::string& key, const char* problem) const {
  throw DataError(concatenate(path_, ": ", text::quoted(key), " ", problem));
}

Tensor GgufFile::tensor(const GgufTensor& tensor) const {
  const std::string where = concatenate(path_, ": ", text::quoted(tensor.name));
  const TypeInfo* const type = find_type(tensor.type);
  check<DataError>(type != nullptr, where, ": is of ggml's type ", tensor.type,
                   "; heddle reads F32, F16, BF16, Q8_0 and Q4_0");
  const Index columns = tensor.shape[-1];
  check<DataError>(columns % block_of(type->dtype).elements == 0, where, ": has ", columns,
                   " columns, which blocks of 32 do not divide");
  Tensor result;
  if (type->type == GgufType::f16) {
    result = Tensor(tensor.shape);
    for (Index i = 0; i < result.size(); ++i) {
      std::uint16_t half;
      std::memcpy(&half, tensor.elements.data() + 2 * i, sizeof(half));
      result[i] = from_half(half);
    }
  } else {
    auto* const first = const_cast<std::byte*>(tensor.elements.data());
    if (reinterpret_cast<std::uintptr_t>(first) % sizeof(Real) == 0) {
      result = Tensor(tensor.shape, type->dtype, first, file_);
    } else {
      result = Tensor(tensor.shape, type->dtype);
      std::memcpy(result.raw(), first, tensor.elements.size());
    }
  }
  const auto rows = tensor.shape.size() / columns;
  for (Index row = 0; row < rows; ++row) {
    const auto* const begin =
        static_cast<const std::byte*>(result.raw()) + row * heddle::bytes_of_row(type->dtype, columns);
    check<NumericError>(storage_format(type->dtype).find_not_finite(begin, columns) < 0, where,
                        ": has numbers that are not finite");
  }
  return result;
}

namespace {

class GgufWriter {
 public:
  explicit GgufWriter(const std::string& path) : file_(path) {}

  template <class T>
  void number(T value) {
    header_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void string(std::string_view value) {
    number(static_cast<std::uint64_t>(value.size()));
    header_ += value;
  }
  void typed(const GgufValue& value) {
    std::visit([&](const auto& of) { typed(of); }, value);
  }
  void bytes(std::string_view bytes) { header_ += bytes; }
  Index size() const { return std::ssize(header_); }
  void flush() {
    file_.write(header_);
    header_.clear();
  }
  const std::string& temporary() const { return file_.temporary(); }
  void commit() { file_.commit(); }

 private:
  void typed(Index value) {
    if (value >= 0 && value <= 0xFFFFFFFF) {
      number(static_cast<std::uint32_t>(GgufValueType::u32));
      number(static_cast<std::uint32_t>(value));
    } else {
      number(static_cast<std::uint32_t>(GgufValueType::i64));
      number(value);
    }
  }
  void typed(double value) {
    number(static_cast<std::uint32_t>(GgufValueType::f32));
    number(static_cast<float>(value));
  }
  void typed(bool value) {
    number(static_cast<std::uint32_t>(GgufValueType::flag));
    number(static_cast<std::uint8_t>(value));
  }
  void typed(const std::string& value) {
    number(static_cast<std::uint32_t>(GgufValueType::text));
    string(value);
  }
  template <class T, class Write>
  void typed_list(const std::vector<T>& values, GgufValueType type, const Write& write) {
    number(static_cast<std::uint32_t>(GgufValueType::list));
    number(static_cast<std::uint32_t>(type));
    number(static_cast<std::uint64_t>(values.size()));
    for (const auto& value : values) write(value);
  }
  void typed(const std::vector<Index>& values) {
    typed_list(values, GgufValueType::i32, [&](Index value) { number(static_cast<std::int32_t>(value)); });
  }
  void typed(const std::vector<double>& values) {
    typed_list(values, GgufValueType::f32, [&](double value) { number(static_cast<float>(value)); });
  }
  void typed(const std::vector<bool>& values) {
    typed_list(values, GgufValueType::flag, [&](bool value) { number(static_cast<std::uint8_t>(value)); });
  }
  void typed(const std::vector<std::string>& values) {
    typed_list(values, GgufValueType::text, [&](const std::string& value) { string(value); });
  }

  AtomicFile file_;
  std::string header_;
};

Index aligned(Index bytes) {
  constexpr auto alignment = static_cast<Index>(default_alignment);
  return (bytes + alignment - 1) / alignment * alignment;
}

// The extents of all parts together, the first one being that of the rows.
std::vector<Index> extents_of(const GgufOutput& tensor) {
  std::vector<Index> extents = tensor.parts.front().shape().extents();
  for (std::size_t i = 1; i < tensor.parts.size(); ++i) extents.front() += tensor.parts[i].shape()[0];
  return extents;
}

Index bytes_of(const GgufOutput& tensor) {
  Index bytes = 0;
  for (const Tensor& part : tensor.parts) {
    bytes += part.size() / part.shape()[-1] * bytes_of_row(tensor.type, part.shape()[-1]);
  }
  return bytes;
}

void write_part(GgufWriter& writer, const Tensor& part, const GgufOutput& tensor) {
  if (tensor.type != GgufType::f16) {
    const Tensor rows =
        is_plain(part.dtype()) ? part.as(find_type(static_cast<std::uint32_t>(tensor.type))->dtype) : part;
    return writer.bytes({static_cast<const char*>(rows.raw()), rows.bytes()});
  }
  for (const Real value : part.elements()) {
    const std::uint16_t half = to_half(static_cast<float>(value));
    check<DataError>((half & 0x7FFFu) < 0x7C00u, tensor.name, ": has weights too large for f16");
    writer.number(half);
  }
}

}  // namespace

void write_gguf(const std::string& path, const GgufValues& values, const std::vector<GgufOutput>& tensors,
                const GgufExamine& examine) {
  GgufWriter writer(path);
  writer.bytes(gguf_magic);
  writer.number(std::uint32_t{3});
  writer.number(static_cast<std::uint64_t>(tensors.size()));
  writer.number(static_cast<std::uint64_t>(values.size()));
  for (const auto& [key, value] : values) {
    writer.string(key);
    writer.typed(value);
  }
  Index offset = 0;
  for (const GgufOutput& tensor : tensors) {
    const std::vector<Index> extents = extents_of(tensor);
    writer.string(tensor.name);
    writer.number(static_cast<std::uint32_t>(extents.size()));
    for (std::size_t i = extents.size(); i-- > 0;) writer.number(static_cast<std::uint64_t>(extents[i]));
    writer.number(static_cast<std::uint32_t>(tensor.type));
    writer.number(static_cast<std::uint64_t>(offset));
    offset += aligned(bytes_of(tensor));
  }
  writer.bytes(std::string(static_cast<std::size_t>(aligned(writer.size()) - writer.size()), '\0'));
  writer.flush();
  for (const GgufOutput& tensor : tensors) {
    for (const Tensor& part : tensor.parts) write_part(writer, part, tensor);
    writer.bytes(std::string(static_cast<std::size_t>(aligned(bytes_of(tensor)) - bytes_of(tensor)), '\0'));
    writer.flush();
  }
  examine(writer.temporary());
  writer.commit();
}

}  // namespace heddle::formats
