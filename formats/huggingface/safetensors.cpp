#include "formats/huggingface/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "formats/files/atomic_file.hpp"
#include "formats/json/node.hpp"
#include "formats/json/ordered_object.hpp"
#include "libcore/tensor/half.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

static_assert(std::endian::native == std::endian::little, "safetensors are read where they lie");

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = 100'000'000;  // the format's own limit
constexpr std::size_t alignment = 64;
constexpr const char* metadata_name = "__metadata__";

std::string_view header_of(const MappedFile& file, const std::string& path) {
  check<DataError>(file.size() >= length_bytes, path, ": has ", file.size(), " bytes and no safetensors header");
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), length_bytes);
  check<DataError>(length <= most_header_bytes && length <= file.size() - length_bytes, path, ": a header of ", length,
                   " bytes in a file of ", file.size(), ". It is truncated, damaged or not a safetensors file");
  return {reinterpret_cast<const char*>(file.data()) + length_bytes, static_cast<std::size_t>(length)};
}

// Bytes of the elements; stops before it overflows.
Index size_of(const Safetensor& tensor, Index most) {
  Index bytes = bytes_of(tensor.type);
  if (std::ranges::find(tensor.shape, 0) != tensor.shape.end()) return 0;
  for (const Index extent : tensor.shape) {
    if (bytes > most / extent) return most + 1;
    bytes *= extent;
  }
  return bytes;
}

Safetensor read_entry(const JsonNode& entry, std::span<const std::byte> data) {
  entry.expect_only({"dtype", "shape", "data_offsets"});
  Safetensor tensor;
  tensor.name = entry.key();
  try {
    tensor.type = from_text<Safetype>(entry["dtype"].text());
  } catch (const UsageError&) {
    entry["dtype"].refuse(
        concatenate(text::quoted(entry["dtype"].text()), " is not one of ", join(names_of<Safetype>())));
  }
  const JsonNode shape = entry["shape"], offsets = entry["data_offsets"];
  const JsonNodes extents = shape.list(), ends = offsets.list();
  tensor.shape.reserve(shape.size());
  for (const JsonNode& extent : extents) tensor.shape.push_back(extent.number());
  if (offsets.size() != 2) offsets.refuse("must be where the tensor begins and ends");
  const auto size = static_cast<Index>(data.size());
  const Index end = (*++ends.begin()).number(size), begin = (*ends.begin()).number(end);
  if (size_of(tensor, size) != end - begin) {
    entry.refuse(concatenate("has ", end - begin, " bytes, which its type and shape do not fill"));
  }
  tensor.elements = data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  return tensor;
}

// Throws DataError unless each byte belongs to exactly one tensor.
void check_places(const std::vector<Safetensor>& tensors, std::span<const std::byte> data, const std::string& path) {
  const std::byte* expected = data.data();
  for (const Safetensor& tensor : tensors) {
    check<DataError>(tensor.elements.data() == expected, path, ": the elements of ", text::quoted(tensor.name),
                     tensor.elements.data() < expected ? " overlap those of another tensor"
                                                       : " follow bytes that belong to no tensor");
    expected += tensor.elements.size();
  }
  check<DataError>(expected == data.data() + data.size(), path, ": ends in ",
                   data.size() - static_cast<std::size_t>(expected - data.data()), " bytes that belong to no tensor");
}

// Calls f with each element, of type T, whatever its alignment.
template <class T, class F>
void for_each_element(std::span<const std::byte> elements, const F& f) {
  for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) {
    T element;
    std::memcpy(&element, elements.data() + i * sizeof(T), sizeof(T));
    f(i, element);
  }
}

template <class T, class Load>
void convert_elements(const Safetensor& tensor, Real* to, const Load& load_element) {
  for_each_element<T>(tensor.elements,
                      [&](std::size_t i, T element) { to[i] = static_cast<Real>(load_element(element)); });
}

Tensor convert_elements(const Safetensor& tensor, const Shape& shape) {
  const Tensor result(shape);
  Real* to = result.data();
  const auto as_it_is = [](auto number) { return number; };
  switch (tensor.type) {
    case Safetype::f64:
      convert_elements<double>(tensor, to, as_it_is);
      break;
    case Safetype::f32:
      convert_elements<float>(tensor, to, as_it_is);
      break;
    case Safetype::f16:
      convert_elements<std::uint16_t>(tensor, to, from_half);
      break;
    default:
      throw DataError(
          concatenate(tensor.where(), ": has type ", to_text(tensor.type), ", which is not supported for weights"));
  }
  return result;
}

// The elements as a view of the file; a copy if they are not aligned.
Tensor view_elements(const Safetensor& tensor, const Shape& shape, DType dtype) {
  auto* first = const_cast<std::byte*>(tensor.elements.data());
  const bool aligned = reinterpret_cast<std::uintptr_t>(first) % heddle::bytes_of(dtype) == 0;
  if (aligned && !tensor.elements.empty()) {
    return {shape, dtype, first, std::const_pointer_cast<MappedFile>(tensor.file)};
  }
  const Tensor copy(shape, dtype);
  if (!tensor.elements.empty()) std::memcpy(copy.raw(), first, tensor.elements.size());
  return copy;
}

void check_finite(const Tensor& tensor, const std::string& where) {
  tensor.with_data([&](const auto* elements) {
    const auto* end = elements + tensor.size();
    const auto* bad = std::find_if(elements, end, [](auto x) { return !std::isfinite(heddle::load(x)); });
    check<NumericError>(bad == end, where, ": element ", bad - elements, " is not finite");
  });
}

std::vector<std::uint16_t> halves_of(const Tensor& reals, const std::string& name) {
  std::vector<std::uint16_t> halves(static_cast<std::size_t>(reals.size()));
  std::transform(reals.data(), reals.data() + reals.size(), halves.begin(), [&](Real x) {
    const std::uint16_t half = to_half(x);
    check<DataError>(std::isfinite(from_half(half)), name, ": has weights too large for F16; use BF16 or F32");
    return half;
  });
  return halves;
}

void write_elements(AtomicFile& file, const SafetensorOutput& tensor) {
  const Tensor elements = tensor.value.as(tensor.type == Safetype::bf16 ? DType::bfloat16 : DType::real);
  if (tensor.type == Safetype::f16) {
    const std::vector<std::uint16_t> halves = halves_of(elements, tensor.name);
    file.write({reinterpret_cast<const char*>(halves.data()), halves.size() * sizeof(std::uint16_t)});
  } else {
    file.write({static_cast<const char*>(elements.raw()), elements.bytes()});
  }
}

std::string make_header(std::span<const SafetensorOutput* const> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<std::string, nlohmann::ordered_json>> header;
  if (!metadata.empty()) header.emplace_back(metadata_name, metadata);
  Index offset = 0;
  for (const SafetensorOutput* tensor : tensors) {
    const Index end = offset + tensor->value.size() * bytes_of(tensor->type);
    header.emplace_back(tensor->name, nlohmann::ordered_json{{"dtype", to_text(tensor->type)},
                                                             {"shape", tensor->value.shape().extents()},
                                                             {"data_offsets", {offset, end}}});
    offset = end;
  }
  std::string text = ordered_object(header).dump();
  text.append((alignment - (length_bytes + text.size()) % alignment) % alignment, ' ');
  return text;
}

}  // namespace

std::string Safetensor::where() const {
  return concatenate(*path, ": ", text::quoted(name));
}

Index bytes_of(Safetype type) {
  switch (type) {
    case Safetype::f64:
    case Safetype::i64:
    case Safetype::u64:
      return 8;
    case Safetype::f32:
    case Safetype::i32:
    case Safetype::u32:
      return 4;
    case Safetype::f16:
    case Safetype::bf16:
    case Safetype::i16:
    case Safetype::u16:
      return 2;
    default:
      return 1;
  }
}

std::vector<Safetensor> read_safetensors(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(Descriptor::open_for_reading(path));
  const std::string_view text = header_of(*file, path);
  const JsonDocument document{std::string(text), path};
  const JsonNode header(document);
  check<DataError>(header.is_object(), path,
                   ": the header is not a JSON object. The file is damaged or not a safetensors file");
  const std::span data(file->data() + length_bytes + text.size(), file->size() - length_bytes - text.size());
  const auto shared_path = std::make_shared<const std::string>(path);
  std::vector<Safetensor> tensors;
  tensors.reserve(header.size());
  for (const JsonNode& entry : header.members()) {
    if (entry.key() == metadata_name) continue;
    tensors.push_back(read_entry(entry, data));
    tensors.back().file = file;
    tensors.back().path = shared_path;
  }
  // An empty tensor comes before the one that begins at the same place.
  std::ranges::sort(tensors, {},
                    [](const Safetensor& tensor) { return std::pair(tensor.elements.data(), tensor.elements.size()); });
  check_places(tensors, data, path);
  return tensors;
}

Tensor to_tensor(const Safetensor& tensor) {
  check<DataError>(tensor.shape.size() <= Shape::max_rank, tensor.where(), ": has ", tensor.shape.size(),
                   " dimensions");
  const Shape shape(tensor.shape);
  const Tensor result = tensor.type == Safetype::f32    ? view_elements(tensor, shape, DType::real)
                        : tensor.type == Safetype::bf16 ? view_elements(tensor, shape, DType::bfloat16)
                                                        : convert_elements(tensor, shape);
  check_finite(result, tensor.where());
  return result;
}

void write_safetensors(const std::string& path, std::span<const SafetensorOutput> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const SafetensorOutput*> ordered;
  for (const SafetensorOutput& tensor : tensors) ordered.push_back(&tensor);
  std::ranges::stable_sort(ordered, std::ranges::greater(),
                           [](const SafetensorOutput* tensor) { return bytes_of(tensor->type); });
  const std::string header = make_header(ordered, metadata);
  const auto length = static_cast<std::uint64_t>(header.size());
  AtomicFile file(path);
  file.write({reinterpret_cast<const char*>(&length), length_bytes});
  file.write(header);
  for (const SafetensorOutput* tensor : ordered) write_elements(file, *tensor);
  file.commit();
}

}  // namespace heddle::formats
