#include "formats/hdf5/hdf5.hpp"

#include <utility>

#include <string_view>

#include "formats/hdf5/library_source.hpp"
#include "formats/hdf5/reader.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats::hdf5 {

namespace {

template <class T>
constexpr const char* type_name = "";
template <>
constexpr const char* type_name<bool> = "a boolean";
template <>
constexpr const char* type_name<Index> = "a 64-bit integer";
template <>
constexpr const char* type_name<double> = "a 64-bit floating-point number";
template <>
constexpr const char* type_name<std::string> = "text of fixed length";

}  // namespace

std::vector<std::string> Object::attribute_names() const {
  std::vector<std::string> names;
  for (const Attribute& attribute : source_->attributes()) names.push_back(attribute.name);
  return names;
}

template <class T>
T Object::attribute(const std::string& name) const {
  const Attribute* const found = source_->find_attribute(name);
  check<DataError>(found != nullptr, where(), ": lacks the attribute ", name, ". The file is damaged or not heddle's");
  if (const auto* const unreadable = std::get_if<Attribute::Unreadable>(&found->value)) {
    throw DataError(concatenate(where(), ": attribute ", name, " ", unreadable->reason));
  }
  const T* const value = std::get_if<T>(&found->value);
  check<DataError>(value != nullptr, where(), ": attribute ", name, " is not ", type_name<T>);
  return *value;
}

template bool Object::attribute(const std::string& name) const;
template Index Object::attribute(const std::string& name) const;
template double Object::attribute(const std::string& name) const;
template std::string Object::attribute(const std::string& name) const;

Index Dataset::size() const {
  Index elements = 1;
  for (const Index extent : extents()) elements *= extent;
  return elements;
}

void Dataset::read_rows(DType dtype, Index first, Index count, std::span<std::byte> data) const {
  check<DataError>(dtype == layout().dtype, where(), ": holds ", name_of(layout().dtype), ", not ", name_of(dtype));
  check_rows(layout(), first, count, data.size(), where());
  source().read_rows(first, count, data);
}

bool Group::has(const std::string& name) const {
  check<DataError>(is_name(name), where(), ": ", text::quoted(name), " cannot name a part of a file");
  return source().has(name);
}

std::variant<Group, Dataset> Group::part(const std::string& name) const {
  check<DataError>(has(name), where(), ": lacks ", name, ". The file is damaged or not heddle's");
  return std::visit(
      []<class Source>(std::shared_ptr<const Source> part) -> std::variant<Group, Dataset> {
        if constexpr (std::same_as<Source, GroupSource>) {
          return Group(std::move(part));
        } else {
          return Dataset(std::move(part));
        }
      },
      source().part(name));
}

bool Group::has_group(const std::string& name) const {
  return has(name) && std::holds_alternative<Group>(part(name));
}

Group Group::group(const std::string& name) const {
  const auto found = part(name);
  check<DataError>(std::holds_alternative<Group>(found), where(), ": ", name,
                   " is not a group. The file is damaged or not heddle's");
  return std::get<Group>(found);
}

Dataset Group::dataset(const std::string& name) const {
  const auto found = part(name);
  check<DataError>(std::holds_alternative<Dataset>(found), where(), ": ", name,
                   " is not a data set. The file is damaged or not heddle's");
  return std::get<Dataset>(found);
}

namespace {

thread_local bool trusts_files = false;

}  // namespace

TrustScope::TrustScope(bool trusts) : before_(std::exchange(trusts_files, trusts)) {}

TrustScope::~TrustScope() {
  trusts_files = before_;
}

Group open(std::shared_ptr<const Descriptor> file, const std::string& name) {
  return Group(trusts_files ? open_by_library(std::move(file), name) : Reader::open(std::move(file), name));
}

}  // namespace heddle::formats::hdf5
