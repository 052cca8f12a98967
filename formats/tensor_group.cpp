#include "heddle/formats/tensor_group.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "heddle/base/strings.hpp"
#include "heddle/formats/column.hpp"
#include "heddle/formats/problems.hpp"

namespace heddle::formats {

static_assert(std::same_as<Real, float>, "files hold float32; heddle_formats goes with the float libraries");

// What a list may visit: a hostile file can link groups into cycles.
struct TensorGroup::Budget {
  int parts = 1'000'000;
  int depth = 32;
};

namespace {

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.size()) * sizeof(Real);
}

std::span<Real> elements_of(const Tensor& tensor) {
  return {tensor.data(), static_cast<std::size_t>(tensor.size())};
}

void write_tensor(hdf5::Group group, const NamedTensor& tensor) {
  std::vector<std::string> parts = split(tensor.name, '/');
  const std::string last = parts.back();
  parts.pop_back();
  for (const std::string& part : parts) group = group.has(part) ? group.group(part) : group.create_group(part);
  const Tensor value = tensor.value.is_contiguous() ? tensor.value : tensor.value.copy();
  hdf5::Dataset dataset =
      group.create_dataset(last, {.element = hdf5::Element::float32, .extents = value.shape().extents()});
  dataset.write<Real>(elements_of(value));
  dataset.set_attribute<std::string>(checksum_attribute, checksum_of(value.data(), bytes_of(value)));
}

}  // namespace

void write_tensors(const hdf5::Group& group, std::span<const NamedTensor> tensors) {
  for (const NamedTensor& tensor : tensors) write_tensor(group, tensor);
}

TensorGroup::TensorGroup(const hdf5::Group& group) : where_(group.where()) {
  Budget budget;
  list(group, "", budget);
}

void TensorGroup::list(const hdf5::Group& group, const std::string& prefix, Budget& budget) {
  check<DataError>(budget.depth-- > 0, group.where(), ": groups within groups without end");
  for (const std::string& part : group.names()) {
    check<DataError>(budget.parts-- > 0, where_, ": more tensors than any model has");
    auto found = group.part(part);
    if (auto* inner = std::get_if<hdf5::Group>(&found)) {
      list(*inner, prefix + part + "/", budget);
    } else {
      add(prefix + part, std::get<hdf5::Dataset>(std::move(found)));
    }
  }
  ++budget.depth;
}

void TensorGroup::add(const std::string& name, hdf5::Dataset dataset) {
  check<DataError>(dataset.element() == hdf5::Element::float32 && dataset.layout().chunk == 0 &&
                       dataset.extents().size() <= Shape::max_rank,
                   dataset.where(), ": is not a contiguous float32 tensor of at most ", Shape::max_rank,
                   " dimensions. The file is damaged or not heddle's");
  tensors_.push_back({name, Shape(dataset.extents()), hdf5::name_of(dataset.element()), dataset.offset().value_or(0)});
  datasets_.push_back(std::move(dataset));
}

Index TensorGroup::parameters() const {
  Index sum = 0;
  for (const TensorInfo& tensor : tensors_) sum += tensor.shape.size();
  return sum;
}

void TensorGroup::check_match(std::span<const NamedTensor> targets) const {
  std::map<std::string, Shape> wanted;
  for (const NamedTensor& target : targets) wanted.emplace(target.name, target.value.shape());
  for (const TensorInfo& tensor : tensors_) {
    const auto found = wanted.find(tensor.name);
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

void TensorGroup::read_checked(std::size_t number, const Tensor& target) const {
  const hdf5::Dataset& dataset = datasets_[number];
  dataset.read(elements_of(target));
  check<DataError>(dataset.attribute<std::string>(checksum_attribute) == checksum_of(target.data(), bytes_of(target)),
                   dataset.where(), ": the checksum does not match. The file is damaged");
}

void TensorGroup::read(std::span<const NamedTensor> targets) const {
  check_match(targets);
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& target : targets) by_name.emplace(target.name, target.value);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& target = by_name.at(tensors_[i].name);
    if (target.is_contiguous()) {
      read_checked(i, target);
    } else {
      const Tensor contiguous(target.shape());
      read_checked(i, contiguous);
      target.assign(contiguous);
    }
  }
}

std::vector<NamedTensor> TensorGroup::read() const {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    all.push_back({tensors_[i].name, Tensor(tensors_[i].shape)});
    read_checked(i, all.back().value);
  }
  return all;
}

std::vector<NamedTensor> TensorGroup::map(const std::shared_ptr<const MappedFile>& file) const {
  std::vector<NamedTensor> all;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const TensorInfo& tensor = tensors_[i];
    if (tensor.offset % static_cast<Index>(alignof(Real)) != 0) {
      all.push_back({tensor.name, Tensor(tensor.shape)});
      read_checked(i, all.back().value);
      continue;
    }
    const std::size_t bytes = static_cast<std::size_t>(tensor.shape.size()) * sizeof(Real);
    check<DataError>(static_cast<std::size_t>(tensor.offset) + bytes <= file->size(), where_, ": ", tensor.name,
                     " lies beyond the end of the file. The file is damaged");
    // Mapped pages are read-only; a tensor is a handle that has no constant form.
    auto* elements = const_cast<std::byte*>(file->data() + tensor.offset);
    all.push_back({tensor.name, Tensor(tensor.shape, Element::real, elements, std::const_pointer_cast<MappedFile>(file))});
  }
  return all;
}

std::vector<std::string> TensorGroup::verify() const {
  Problems problems;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    problems.watch([&] {
      const Tensor value(tensors_[i].shape);
      read_checked(i, value);
      const std::span<Real> elements = elements_of(value);
      const auto bad = std::find_if(elements.begin(), elements.end(), [](Real x) { return !std::isfinite(x); });
      check<DataError>(bad == elements.end(), datasets_[i].where(), ": element ", bad - elements.begin(),
                       " is not finite");
    });
  }
  return problems.list();
}

}  // namespace heddle::formats
