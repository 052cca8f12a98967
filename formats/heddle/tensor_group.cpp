#include "formats/heddle/tensor_group.hpp"

#include <algorithm>
#include <cstring>

#include "formats/hdf5/column.hpp"
#include "formats/heddle/problems.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/tensor/storage_format.hpp"

namespace heddle::formats {

static_assert(std::same_as<Real, float>, "files hold float32; heddle_formats goes with the float libraries");

// Limits of a listing: a hostile file can link groups into cycles.
struct TensorGroup::Budget {
  int parts = 1'000'000;
  int depth = 32;
};

namespace {

const std::string scales_ending = ".scales";

// Matrices in blocks have these beside their bytes: the name of the format, and the elements of a row.
const std::string format_attribute = "format", columns_attribute = "columns";

hdf5::DType stored_as(DType dtype) {
  for (const hdf5::DType stored : {hdf5::DType::bfloat16, hdf5::DType::int8}) {
    if (hdf5::name_of(stored) == block_of(dtype).in_files) return stored;
  }
  return hdf5::DType::float32;
}

std::optional<DType> dtype_from(const hdf5::Dataset& dataset) {
  const bool in_blocks = dataset.has_attribute(format_attribute);
  const std::string name =
      in_blocks ? dataset.attribute<std::string>(format_attribute) : hdf5::name_of(dataset.dtype());
  for (std::size_t i = 0; i < std::size(stored_blocks); ++i) {
    const StoredBlock& block = stored_blocks[i];
    if (block.name == name && in_blocks == (block.elements > 1) && block.in_files == hdf5::name_of(dataset.dtype())) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

std::vector<Index> extents_of(const Tensor& tensor) {
  std::vector<Index> extents = tensor.shape().extents();
  if (block_of(tensor.dtype()).elements > 1) extents.back() = bytes_of_row(tensor.dtype(), extents.back());
  return extents;
}

// The shape of a tensor that is stored with these extents; none where no tensor is.
std::optional<Shape> shape_from(const hdf5::Dataset& dataset, DType dtype) {
  std::vector<Index> extents = dataset.extents();
  if (extents.size() > Shape::max_rank || (!is_plain(dtype) && extents.size() != 2)) return std::nullopt;
  if (const Index elements = block_of(dtype).elements; elements > 1) {
    const auto columns = dataset.attribute<Index>(columns_attribute);
    if (columns < 0 || columns > extents[1] * elements || bytes_of_row(dtype, columns) != extents[1])
      return std::nullopt;
    extents[1] = columns;
  }
  return Shape(extents);
}

// Calls f with all elements as the file has them.
template <class F>
void with_elements(const Tensor& tensor, const F& f) {
  if (!is_plain(tensor.dtype())) return f(std::span(static_cast<std::int8_t*>(tensor.raw()), tensor.bytes()));
  tensor.with_data([&](auto* first) { f(std::span(first, static_cast<std::size_t>(tensor.size()))); });
}

// The scales of int8 as a tensor [rows].
Tensor scales_of(const Tensor& quantised) {
  return {Shape{quantised.shape()[0]}, DType::real, const_cast<Real*>(quantised.scales()),
          std::make_shared<Tensor>(quantised)};
}

struct Unwritten {
  hdf5::OutputDataset dataset;
  std::function<Tensor()> get;
};

Tensor contiguous(const Tensor& tensor) {
  return tensor.is_contiguous() ? tensor : tensor.copy();
}

Unwritten create(hdf5::OutputGroup& group, const std::string& name, const Tensor& tensor, std::function<Tensor()> get) {
  const Tensor elements = contiguous(tensor);
  const StoredBlock& block = block_of(tensor.dtype());
  hdf5::OutputDataset dataset =
      group.create_dataset(name, {.dtype = stored_as(tensor.dtype()), .extents = extents_of(tensor)});
  if (block.elements > 1) {
    dataset.set_attribute<std::string>(format_attribute, std::string(block.name));
    dataset.set_attribute<Index>(columns_attribute, tensor.shape()[-1]);
  }
  dataset.set_attribute<std::string>(checksum_attribute, checksum_of(elements.raw(), elements.bytes()));
  return {std::move(dataset), std::move(get)};
}

void write(Unwritten& part) {
  with_elements(contiguous(part.get()),
                [&]<class T>(std::span<T> elements) { part.dataset.write(std::span<const T>(elements)); });
}

void read_checked(const hdf5::Dataset& dataset, const Tensor& target) {
  with_elements(target, [&](const auto& elements) { dataset.read(elements); });
  check<DataError>(dataset.attribute<std::string>(checksum_attribute) == checksum_of(target.raw(), target.bytes()),
                   dataset.where(), ": the checksum does not match. The file is damaged");
}

void check_finite(const hdf5::Dataset& dataset, const Tensor& tensor) {
  const Index width = is_plain(tensor.dtype()) ? tensor.size() : tensor.shape()[-1];
  const auto find = storage_format(tensor.dtype()).find_not_finite;
  for (Index begin = 0; begin < tensor.size(); begin += width) {
    const auto* row = static_cast<const std::byte*>(tensor.raw()) + begin / width * bytes_of_row(tensor.dtype(), width);
    const Index bad = find(row, width);
    check<NumericError>(bad < 0, dataset.where(), ": element ", begin + bad, " is not finite");
  }
}

bool is_aligned(const hdf5::Dataset& dataset) {
  const std::optional<Index> offset = dataset.offset();
  return offset ? *offset % hdf5::size_of(dataset.dtype()) == 0 : dataset.size() == 0;
}

// The elements as a view of the file; copied if they are not aligned, or not stored one after the other.
Tensor map_elements(const hdf5::Dataset& dataset, const Shape& shape, DType dtype,
                    const std::shared_ptr<const MappedFile>& file) {
  if (!is_aligned(dataset)) {
    const Tensor copy(shape, dtype);
    read_checked(dataset, copy);
    return copy;
  }
  const auto offset = static_cast<std::size_t>(dataset.offset().value_or(0));
  const auto bytes = static_cast<std::size_t>(bytes_of(shape, dtype));
  check<DataError>(offset <= file->size() && bytes <= file->size() - offset, dataset.where(),
                   ": lies beyond the end of the file. The file is damaged");
  // Mapped pages are read-only, but there is no read-only type of tensor.
  auto* elements = const_cast<std::byte*>(file->data() + offset);
  return {shape, dtype, elements, std::const_pointer_cast<MappedFile>(file)};
}

// Whether the data sets follow one another in the file without a gap.
bool are_adjacent(std::span<const hdf5::Dataset* const> datasets) {
  const hdf5::Dataset& first = *datasets.front();
  const Index bytes = first.size() * hdf5::size_of(first.dtype());
  Index expected = first.offset().value_or(0);
  return is_aligned(first) && std::all_of(datasets.begin(), datasets.end(), [&](const hdf5::Dataset* dataset) {
           return dataset->dtype() == first.dtype() &&
                  dataset->offset().value_or(0) == std::exchange(expected, expected + bytes);
         });
}

Shape stacked(Shape shape, Index count) {
  if (count > 1) shape.set(0, count * shape[0]);
  return shape;
}

// A copy of all parts as one tensor; Reals when their types differ.
Tensor joined(std::vector<Tensor> parts) {
  const bool alike =
      std::all_of(parts.begin(), parts.end(), [&](const Tensor& part) { return part.dtype() == parts[0].dtype(); });
  if (!alike) {
    std::transform(parts.begin(), parts.end(), parts.begin(), [](const Tensor& t) { return t.as(DType::real); });
  }
  const Tensor whole(stacked(parts[0].shape(), static_cast<Index>(parts.size())), parts[0].dtype());
  auto* to = static_cast<std::byte*>(whole.raw());
  for (const Tensor& part : parts) {
    std::memcpy(to, part.raw(), part.bytes());
    to += part.bytes();
  }
  if (!block_of(whole.dtype()).row_scales) return whole;
  std::transform(parts.begin(), parts.end(), parts.begin(), scales_of);
  return Tensor::quantised(whole, joined(std::move(parts)));
}

}  // namespace

std::vector<TensorSource> sources_of(std::span<const NamedTensor> tensors) {
  std::vector<TensorSource> sources;
  for (const NamedTensor& tensor : tensors) {
    sources.push_back({tensor.name, [value = tensor.value] { return value; }});
  }
  return sources;
}

void write_tensors(const hdf5::OutputGroup& group, std::span<const NamedTensor> tensors) {
  write_tensors(group, sources_of(tensors));
}

void write_tensors(const hdf5::OutputGroup& group, std::span<const TensorSource> tensors) {
  // All names are written first, then all elements, so that no HDF5 structures lie between elements of successive
  // tensors.
  std::vector<Unwritten> unwritten, scales;
  for (const auto& [name, get] : tensors) {
    std::vector<std::string> parts = split(name, '/');
    const std::string last = parts.back();
    parts.pop_back();
    hdf5::OutputGroup place = group;
    for (const std::string& part : parts) place = place.group(part);
    const Tensor tensor = get();
    unwritten.push_back(create(place, last, tensor, get));
    if (tensor.scales() != nullptr) {
      const Tensor of = scales_of(tensor);
      scales.push_back(create(place, last + scales_ending, of, [of] { return of; }));
    }
  }
  for (Unwritten& part : unwritten) write(part);
  for (Unwritten& part : scales) write(part);
}

TensorGroup::TensorGroup(const hdf5::Group& group) : where_(group.where()) {
  Budget budget;
  list(group, "", budget);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    check<DataError>(!block_of(tensors_[i].dtype).row_scales || scales_[i], datasets_[i].where(),
                     ": has int8 weights without scales. The file is damaged or not heddle's");
  }
}

void TensorGroup::list(const hdf5::Group& group, const std::string& prefix, Budget& budget) {
  check<DataError>(budget.depth-- > 0, group.where(), ": groups are nested without end");
  for (const std::string& part : group.names()) {
    check<DataError>(budget.parts-- > 0, where_, ": more tensors than any model has");
    auto found = group.part(part);
    if (auto* inner = std::get_if<hdf5::Group>(&found)) {
      list(*inner, prefix + part + "/", budget);
    } else if (part.ends_with(scales_ending)) {
      add_scales(prefix + part, std::get<hdf5::Dataset>(std::move(found)));
    } else {
      add(prefix + part, std::get<hdf5::Dataset>(std::move(found)));
    }
  }
  ++budget.depth;
}

void TensorGroup::add(const std::string& name, hdf5::Dataset dataset) {
  const std::optional<DType> dtype = dtype_from(dataset);
  const std::optional<Shape> shape = dtype ? shape_from(dataset, *dtype) : std::nullopt;
  check<DataError>(shape && dataset.is_plain(), dataset.where(),
                   ": is not a contiguous tensor of float32 or bfloat16 with at most ", Shape::max_rank,
                   " dimensions, nor a matrix of int8, q8 or q4. The file is damaged or not heddle's");
  numbers_.emplace(name, tensors_.size());
  tensors_.push_back({name, *shape, *dtype, dataset.offset().value_or(0)});
  datasets_.push_back(std::move(dataset));
  scales_.emplace_back();
}

// A matrix comes before its scales, in the order of writing and in that of the alphabet.
void TensorGroup::add_scales(const std::string& name, hdf5::Dataset dataset) {
  const auto found = numbers_.find(name.substr(0, name.size() - scales_ending.size()));
  check<DataError>(found != numbers_.end() && block_of(tensors_[found->second].dtype).row_scales &&
                       dataset.dtype() == hdf5::DType::float32 && dataset.is_plain() &&
                       dataset.extents() == std::vector<Index>{tensors_[found->second].shape[0]},
                   dataset.where(),
                   ": is not a contiguous float32 vector with a scale for each row of an int8 matrix"
                   " beside it. The file is damaged or not heddle's");
  scales_[found->second] = std::move(dataset);
}

std::size_t TensorGroup::number_of(const std::string& name) const {
  const auto found = numbers_.find(name);
  check<DataError>(found != numbers_.end(), where_, ": lacks ", name);
  return found->second;
}

Index TensorGroup::parameters() const {
  Index sum = 0;
  for (const TensorInfo& tensor : tensors_) sum += tensor.shape.size();
  return sum;
}

std::string TensorGroup::fingerprint() const {
  Checksum checksum;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const std::string line = tensors_[i].name + " " + datasets_[i].attribute<std::string>(checksum_attribute) + "\n";
    checksum.add(line.data(), line.size());
  }
  return checksum.text();
}

void TensorGroup::check_match(std::span<const NamedTensor> targets, const OtherNames& others) const {
  std::map<std::string, Shape> wanted;
  for (const NamedTensor& target : targets) wanted.emplace(target.name, target.value.shape());
  for (const TensorInfo& tensor : tensors_) {
    const auto found = wanted.find(tensor.name);
    if (found == wanted.end() && others(tensor.name)) continue;
    check<DataError>(found != wanted.end(), where_, ": has ", tensor.name, " ", tensor.shape,
                     ", which the model does not have");
    check<DataError>(found->second == tensor.shape, where_, ": ", tensor.name, " has shape ", tensor.shape,
                     " in the file and ", found->second, " in the model");
    wanted.erase(found);
  }
  check<DataError>(wanted.empty(), where_, ": lacks ", wanted.empty() ? "" : wanted.begin()->first,
                   wanted.size() > 1 ? concatenate(" and ", wanted.size() - 1, " more tensors") : "",
                   ", which the model needs");
}

Tensor TensorGroup::read(std::size_t number) const {
  const Tensor tensor(tensors_[number].shape, tensors_[number].dtype);
  read_checked(datasets_[number], tensor);
  if (!scales_[number]) return tensor;
  const Tensor scales({tensor.shape()[0]});
  read_checked(*scales_[number], scales);
  check_finite(*scales_[number], scales);
  return Tensor::quantised(tensor, scales);
}

void TensorGroup::read(std::span<const NamedTensor> targets, const OtherNames& others) const {
  check_match(targets, others);
  for (const NamedTensor& target : targets) {
    const std::size_t number = number_of(target.name);
    if (target.value.is_contiguous() && tensors_[number].dtype == DType::real) {
      read_checked(datasets_[number], target.value);
    } else {
      target.value.assign(read(number));
    }
  }
}

std::vector<NamedTensor> TensorGroup::read() const {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < tensors_.size(); ++i) all.push_back({tensors_[i].name, read(i)});
  return all;
}

std::vector<NamedTensor> TensorGroup::map(const std::shared_ptr<const MappedFile>& file) const {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < tensors_.size(); ++i) all.push_back({tensors_[i].name, map(i, 1, file)});
  return all;
}

Tensor TensorGroup::map(std::span<const std::string> names, const std::shared_ptr<const MappedFile>& file) const {
  std::vector<std::size_t> numbers;
  for (const std::string& name : names) numbers.push_back(number_of(name));
  const Shape& shape = tensors_[numbers.front()].shape;
  for (const std::size_t number : numbers) {
    check<DataError>(tensors_[number].shape == shape, where_, ": ", tensors_[number].name, " has shape ",
                     tensors_[number].shape, " and ", names.front(), " has ", shape);
  }
  if (numbers.size() == 1 || lie_together(numbers)) return map(numbers[0], static_cast<Index>(numbers.size()), file);
  std::vector<Tensor> parts;
  for (const std::size_t number : numbers) parts.push_back(map(number, 1, file));
  return joined(std::move(parts));
}

bool TensorGroup::lie_together(std::span<const std::size_t> numbers) const {
  std::vector<const hdf5::Dataset*> datasets, scales;
  for (const std::size_t number : numbers) {
    if (tensors_[number].dtype != tensors_[numbers[0]].dtype) return false;
    datasets.push_back(&datasets_[number]);
    if (scales_[number]) scales.push_back(&*scales_[number]);
  }
  return are_adjacent(datasets) && (scales.empty() || are_adjacent(scales));
}

// `count` contiguous tensors, starting with number `first`.
Tensor TensorGroup::map(std::size_t first, Index count, const std::shared_ptr<const MappedFile>& file) const {
  const TensorInfo& tensor = tensors_[first];
  const Shape shape = stacked(tensor.shape, count);
  const Tensor mapped = map_elements(datasets_[first], shape, tensor.dtype, file);
  if (!scales_[first]) return mapped;
  const Tensor scales = map_elements(*scales_[first], Shape{shape[0]}, DType::real, file);
  check_finite(*scales_[first], scales);
  return Tensor::quantised(mapped, scales);
}

void TensorGroup::require_sound() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) check_finite(datasets_[i], read(i));
}

std::vector<std::string> TensorGroup::verify() const {
  Problems problems;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    problems.watch([&] { check_finite(datasets_[i], read(i)); });
  }
  return problems.list();
}

}  // namespace heddle::formats
