#include <algorithm>

#include "heddle/formats/hdf5_library.hpp"

namespace heddle::formats::hdf5 {

namespace {

// The type that h5py writes and reads for Python's bool.
Handle boolean_type() {
  Handle type(H5Tenum_create(H5T_STD_I8LE));
  const std::int8_t no = 0, yes = 1;
  require({H5Tenum_insert(type.id(), "FALSE", &no), H5Tenum_insert(type.id(), "TRUE", &yes)}, "boolean type");
  return type;
}

bool attribute_exists(const Handle& object, const std::string& where, const std::string& name) {
  const htri_t exists = H5Aexists(object.id(), name.c_str());
  if (exists < 0) fail_reading(where, "look up attribute " + name);
  return exists > 0;
}

Handle open_attribute(const Handle& object, const std::string& where, const std::string& name) {
  check<DataError>(attribute_exists(object, where, name), where, ": lacks the attribute ", name,
                   ". The file is damaged or not heddle's");
  const Handle attribute = reading(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), where, "open an attribute");
  const Handle space = reading(H5Aget_space(attribute.id()), where, "read the shape of an attribute");
  check<DataError>(H5Sget_simple_extent_npoints(space.id()) == 1, where, ": attribute ", name,
                   " is not a single value");
  return attribute;
}

// Reads an attribute of exactly this type.
void read_attribute(const Handle& object, const std::string& where, const std::string& name, hid_t type,
                    const char* type_name, void* value) {
  const Handle attribute = open_attribute(object, where, name);
  const Handle stored = reading(H5Aget_type(attribute.id()), where, "read the type of an attribute");
  check<DataError>(H5Tequal(stored.id(), type) > 0, where, ": attribute ", name, " is not ", type_name);
  if (H5Aread(attribute.id(), type, value) < 0) fail_reading(where, "read attribute " + name);
}

void write_attribute(const Handle& object, const std::string& where, const std::string& name, hid_t type,
                     const void* value) {
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle attribute = writing(H5Acreate2(object.id(), name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                                   where, "add an attribute");
  if (H5Awrite(attribute.id(), type, value) < 0) fail_writing(where, "write attribute " + name);
}

}  // namespace

std::vector<std::string> Object::attribute_names() const {
  const Lock lock;
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (H5Aiterate2(handle_.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
    fail_reading(where(), "list the attributes");
  }
  check<DataError>(std::ranges::all_of(names, is_name), where(),
                   ": has an attribute with an unprintable name. The file is damaged or not heddle's");
  return names;
}

void Object::read_attributes() const {
  const Lock lock;
  for (const std::string& name : attribute_names()) {
    const Handle attribute(H5Aopen(handle_.id(), name.c_str(), H5P_DEFAULT));
    const Handle type(H5Aget_type(attribute.id())), space(H5Aget_space(attribute.id()));
    const std::size_t width = type ? H5Tget_size(type.id()) : 0;
    const bool readable = width > 0 && width <= static_cast<std::size_t>(file().size) &&
                          H5Tdetect_class(type.id(), H5T_VLEN) == 0 && H5Tis_variable_str(type.id()) <= 0 && space &&
                          H5Sget_simple_extent_npoints(space.id()) == 1;
    if (!readable) continue;
    std::string value(width, '\0');
    H5Aread(attribute.id(), type.id(), value.data());
  }
  H5Eclear2(H5E_DEFAULT);
}

bool Object::has_attribute(const std::string& name) const {
  const Lock lock;
  return attribute_exists(handle_, where(), name);
}

template <>
bool Object::attribute<bool>(const std::string& name) const {
  const Lock lock;
  std::int8_t value = 0;
  read_attribute(handle_, where(), name, boolean_type().id(), "a boolean", &value);
  check<DataError>(value == 0 || value == 1, where(), ": attribute ", name, " is neither true nor false");
  return value == 1;
}

template <>
Index Object::attribute<Index>(const std::string& name) const {
  const Lock lock;
  Index value = 0;
  read_attribute(handle_, where(), name, element_type(DType::int64).id(), "a 64-bit integer", &value);
  return value;
}

template <>
double Object::attribute<double>(const std::string& name) const {
  const Lock lock;
  double value = 0;
  read_attribute(handle_, where(), name, element_type(DType::float64).id(), "a 64-bit floating-point number", &value);
  return value;
}

template <>
std::string Object::attribute<std::string>(const std::string& name) const {
  const Lock lock;
  const Handle attribute = open_attribute(handle_, where(), name);
  const Handle type = reading(H5Aget_type(attribute.id()), where(), "read the type of an attribute");
  check<DataError>(H5Tget_class(type.id()) == H5T_STRING && H5Tis_variable_str(type.id()) == 0, where(), ": attribute ",
                   name, " is not text of fixed length");
  const std::size_t width = H5Tget_size(type.id());
  check<DataError>(width <= static_cast<std::size_t>(file().size), where(), ": attribute ", name,
                   " claims to be larger than the file");
  std::string value(width, '\0');
  if (H5Aread(attribute.id(), type.id(), value.data()) < 0) fail_reading(where(), "read attribute " + name);
  value.resize(std::min(value.find('\0'), width));
  check<DataError>(is_text(value), where(), ": attribute ", name, " is not UTF-8 text");
  return value;
}

template <>
void Object::set_attribute<bool>(const std::string& name, const bool& value) {
  const Lock lock;
  const std::int8_t byte = value ? 1 : 0;
  write_attribute(handle_, where(), name, boolean_type().id(), &byte);
}

template <>
void Object::set_attribute<Index>(const std::string& name, const Index& value) {
  const Lock lock;
  write_attribute(handle_, where(), name, element_type(DType::int64).id(), &value);
}

template <>
void Object::set_attribute<double>(const std::string& name, const double& value) {
  const Lock lock;
  write_attribute(handle_, where(), name, element_type(DType::float64).id(), &value);
}

// Fixed-length text lies in the object's own header, under HDF5's checksum; text of variable length would not.
template <>
void Object::set_attribute<std::string>(const std::string& name, const std::string& value) {
  const Lock lock;
  check<DataError>(is_text(value), where(), ": attribute ", name, " would hold text that is not UTF-8 without NUL");
  const Handle type = text_type(static_cast<Index>(value.size()) + 1);
  write_attribute(handle_, where(), name, type.id(), value.c_str());
}

}  // namespace heddle::formats::hdf5
