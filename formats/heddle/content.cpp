#include "formats/heddle/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/files/checksum.hpp"
#include "formats/hdf5/column.hpp"

namespace heddle::formats {

namespace {

// Parts of the root group that record how a file was made, or how to resume making it.
constexpr std::array<std::string_view, 5> parts_of_making{"provenance", "history", "training", "run", "best"};

void add(Checksum& sum, std::string_view text) {
  const Index size = static_cast<Index>(text.size());
  sum.add(&size, sizeof size);
  sum.add(text.data(), text.size());
}

template <class Number>
void add_number(Checksum& sum, const Number& number) {
  std::array<char, sizeof(Number)> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  add(sum, {bytes.data(), bytes.size()});
}

void add_attributes(Checksum& sum, const hdf5::Object& object) {
  for (const hdf5::Attribute& attribute : object.attributes()) {
    add(sum, attribute.name);
    add_number(sum, static_cast<Index>(attribute.value.index()));
    std::visit(
        [&]<class Value>(const Value& value) {
          if constexpr (std::same_as<Value, std::string>) {
            add(sum, value);
          } else if constexpr (!std::same_as<Value, hdf5::Attribute::Unreadable>) {
            add_number(sum, value);
          }
        },
        attribute.value);
  }
}

void add_elements(Checksum& sum, const hdf5::Dataset& dataset) {
  constexpr Index block = Index{1} << 20;  // bytes
  const Index rows = dataset.extents().empty() ? 1 : dataset.extents()[0];
  if (dataset.size() == 0) return;
  const Index width = hdf5::bytes_of(dataset.layout(), dataset.where()) / rows,
              most = std::max<Index>(1, block / width);
  std::vector<std::byte> bytes;
  for (Index first = 0; first < rows; first += most) {
    const Index count = std::min(most, rows - first);
    bytes.resize(static_cast<std::size_t>(count * width));
    dataset.read_bytes(first, count, bytes);
    sum.add(bytes.data(), bytes.size());
  }
}

void add_dataset(Checksum& sum, const hdf5::Dataset& dataset) {
  add(sum, hdf5::name_of(dataset.dtype()));
  for (const Index extent : dataset.extents()) add_number(sum, extent);
  add_attributes(sum, dataset);
  if (!dataset.has_attribute(checksum_attribute)) add_elements(sum, dataset);
}

using Part = std::variant<hdf5::Group, hdf5::Dataset>;
using Visit = std::function<void(const Part&)>;

// In the order of their names. Files have some levels of groups, and these no more than the reader allows.
void for_each_part(const hdf5::Group& group, bool is_root, const Visit& visit) {
  std::vector<std::string> names = group.names();
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (is_root && std::ranges::count(parts_of_making, name) > 0) continue;
    const auto part = group.part(name);
    visit(part);
    if (const auto* const inner = std::get_if<hdf5::Group>(&part)) for_each_part(*inner, false, visit);
  }
}

}  // namespace

std::string content_checksum(const InputFile& file) {
  Checksum sum;
  add(sum, to_text(file.kind()));
  for_each_part(file.root(), true, [&](const Part& part) {
    if (const auto* const group = std::get_if<hdf5::Group>(&part)) {
      add(sum, group->path());
      add_attributes(sum, *group);
    } else {
      add(sum, std::get<hdf5::Dataset>(part).path());
      add_dataset(sum, std::get<hdf5::Dataset>(part));
    }
  });
  return sum.text();
}

void check_elements(const InputFile& file) {
  for_each_part(file.root(), true, [](const Part& part) {
    const auto* const dataset = std::get_if<hdf5::Dataset>(&part);
    if (dataset == nullptr || !dataset->has_attribute(checksum_attribute)) return;
    Checksum sum;
    add_elements(sum, *dataset);
    check<DataError>(dataset->attribute<std::string>(checksum_attribute) == sum.text(), dataset->where(),
                     ": the checksum does not match. The file is damaged");
  });
}

}  // namespace heddle::formats
