// Everything in an HDF5 file, as heddle's reader sees it: groups, attributes, and the first and last rows of data sets.
#include <algorithm>
#include <vector>

#include "formats/hdf5/hdf5.hpp"
#include "fuzz/target.hpp"

namespace heddle::fuzz {

namespace {

namespace hdf5 = formats::hdf5;

template <class T>
void read_ends(const hdf5::Dataset& dataset) {
  constexpr Index most_bytes = 1 << 20;
  const hdf5::DatasetLayout& layout = dataset.layout();
  Index row = hdf5::width_of(layout);
  for (std::size_t i = 1; i < layout.extents.size(); ++i) row *= layout.extents[i];
  const Index rows = layout.extents.empty() ? 1 : layout.extents[0];
  const Index count = row > most_bytes ? 0 : std::min<Index>(rows, 3);
  std::vector<T> elements(static_cast<std::size_t>(count * row) / sizeof(T));
  read_or_refuse([&] { dataset.read(0, count, std::span(elements)); });
  read_or_refuse([&] { dataset.read(rows - count, count, std::span(elements)); });
}

void visit(const hdf5::Dataset& dataset) {
  switch (dataset.dtype()) {
    case hdf5::DType::int8:
      return read_ends<std::int8_t>(dataset);
    case hdf5::DType::int64:
      return read_ends<std::int64_t>(dataset);
    case hdf5::DType::uint16:
      return read_ends<std::uint16_t>(dataset);
    case hdf5::DType::uint32:
      return read_ends<std::uint32_t>(dataset);
    case hdf5::DType::uint64:
      return read_ends<std::uint64_t>(dataset);
    case hdf5::DType::bfloat16:
      return read_ends<BFloat16>(dataset);
    case hdf5::DType::float32:
      return read_ends<float>(dataset);
    case hdf5::DType::float64:
      return read_ends<double>(dataset);
    case hdf5::DType::text:
      return read_ends<char>(dataset);
  }
}

// Groups cannot contain themselves, so that this ends.
void visit(const hdf5::Group& group) {
  for (const std::string& name : group.attribute_names()) {
    read_or_refuse([&] { group.attribute<std::string>(name); });
  }
  for (const std::string& name : group.names()) {
    read_or_refuse([&] { std::visit([](const auto& part) { visit(part); }, group.part(name)); });
  }
}

}  // namespace

void hdf5_file(std::string_view input) {
  const std::string path = write_input("file.h5", input);
  read_or_refuse([&] {
    auto file = std::make_shared<const formats::Descriptor>(formats::Descriptor::open_for_reading(path));
    visit(hdf5::open(std::move(file), path));
  });
}

}  // namespace heddle::fuzz
