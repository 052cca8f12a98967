#include "formats/hdf5/library_source.hpp"

#include <algorithm>
#include <array>

#include "formats/hdf5/driver.hpp"
#include "formats/hdf5/library.hpp"

namespace heddle::formats::hdf5 {

namespace {

// A file that the library has open; every object of the file keeps it open.
struct LibraryFile {
  std::shared_ptr<const Descriptor> descriptor;
  DriverFile driver;
  Handle handle;
};
using SharedFile = std::shared_ptr<const LibraryFile>;

decltype(Attribute::value) read_value(const Handle& attribute, const std::string& where, const std::string& name) {
  const Handle space = reading(H5Aget_space(attribute.id()), where, "read the shape of an attribute");
  const Handle type = reading(H5Aget_type(attribute.id()), where, "read the type of an attribute");
  if (H5Sget_simple_extent_npoints(space.id()) != 1) return Attribute::Unreadable{"is not a single value"};
  const auto read = [&](void* value) {
    if (H5Aread(attribute.id(), type.id(), value) < 0) fail_reading(where, "read attribute " + name);
  };
  if (H5Tget_class(type.id()) == H5T_STRING && H5Tis_variable_str(type.id()) == 0) {
    std::string text(H5Tget_size(type.id()), '\0');
    read(text.data());
    text.resize(std::min(text.find('\0'), text.size()));
    if (!is_text(text)) return Attribute::Unreadable{"is not UTF-8 text"};
    return text;
  }
  if (H5Tequal(type.id(), boolean_type().id()) > 0) {
    std::int8_t value = 0;
    read(&value);
    return value != 0;
  }
  if (H5Tequal(type.id(), stored_dtype(DType::int64).id()) > 0) {
    Index value = 0;
    read(&value);
    return value;
  }
  if (H5Tequal(type.id(), stored_dtype(DType::float64).id()) > 0) {
    double value = 0;
    read(&value);
    return value;
  }
  return Attribute::Unreadable{"is of a type that heddle does not write"};
}

std::vector<Attribute> read_attributes(const Handle& object, const std::string& where) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0) {
    fail_reading(where, "list the attributes");
  }
  std::vector<Attribute> attributes;
  for (const std::string& name : names) {
    const Handle attribute = reading(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), where, "open an attribute");
    attributes.push_back({name, read_value(attribute, where, name)});
  }
  return attributes;
}

class LibraryDataset : public DatasetSource {
 public:
  LibraryDataset(SharedFile library, Handle handle, DatasetLayout layout, std::shared_ptr<const FileName> file,
                 std::string path, std::vector<Attribute> attributes)
      : DatasetSource(std::move(layout), std::move(file), std::move(path), std::move(attributes)),
        library_(std::move(library)),
        handle_(std::move(handle)) {}

  std::optional<Index> offset() const override {
    const Lock lock;
    const haddr_t offset = H5Dget_offset(handle_.id());
    H5Eclear2(H5E_DEFAULT);
    return offset == HADDR_UNDEF ? std::nullopt : std::optional(static_cast<Index>(offset));
  }
  bool is_trusted() const override { return true; }
  void read_rows(Index first, Index count, std::span<std::byte> data) const override {
    if (data.empty()) return;
    const Lock lock;
    const auto [file_space, memory_space] = select_rows(handle_, layout(), first, count, where());
    const Handle type = stored_dtype(layout().dtype, layout().text_width);
    if (H5Dread(handle_.id(), type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, data.data()) < 0) {
      fail_reading(where(), "read the elements");
    }
  }

 private:
  SharedFile library_;
  Handle handle_;
};

DatasetLayout read_type_and_shape(const Handle& dataset, const std::string& where) {
  const Handle type = reading(H5Dget_type(dataset.id()), where, "read the type");
  DatasetLayout layout;
  if (H5Tget_class(type.id()) == H5T_STRING && H5Tis_variable_str(type.id()) == 0) {
    layout.dtype = DType::text;
    layout.text_width = static_cast<Index>(H5Tget_size(type.id()));
    check<DataError>(layout.text_width > 0, where, ": text of no width");
  } else {
    constexpr std::array numbers{DType::float32, DType::int64,  DType::float64,  DType::uint16,
                                 DType::uint32,  DType::uint64, DType::bfloat16, DType::int8};
    const auto found = std::find_if(numbers.begin(), numbers.end(),
                                    [&](DType number) { return H5Tequal(type.id(), stored_dtype(number).id()) > 0; });
    check<DataError>(found != numbers.end(), where, ": elements of a type that heddle does not support");
    layout.dtype = *found;
  }
  const Handle space = reading(H5Dget_space(dataset.id()), where, "read the shape");
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  check<DataError>(rank >= 0 && H5Sget_simple_extent_type(space.id()) != H5S_NULL, where, ": no shape");
  for (int i = 0; i < rank; ++i) layout.extents.push_back(static_cast<Index>(extents.at(static_cast<std::size_t>(i))));
  return layout;
}

// Chunks of several dimensions, and the filters of other programs, are the library's own affair.
void read_chunks(const Handle& properties, DatasetLayout& layout, const std::string& where) {
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  if (H5Pget_chunk(properties.id(), H5S_MAX_RANK, chunk.data()) > 0) layout.chunk = static_cast<Index>(chunk[0]);
  const int filters = H5Pget_nfilters(properties.id());
  layout.compress = filters > 0;
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, configuration = 0;
    std::size_t parameters = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter = H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags, &parameters, nullptr,
                                               name.size(), name.data(), &configuration);
    check<DataError>(
        H5Zfilter_avail(filter) > 0, where, ": is stored with the filter '", name.data(),
        "', which this HDF5 library lacks; on a system that has it, h5repack -f NONE writes the file without it");
  }
}

DatasetLayout examine(const Handle& dataset, const std::string& where, Index file_size) {
  DatasetLayout layout = read_type_and_shape(dataset, where);
  const Handle properties = reading(H5Dget_create_plist(dataset.id()), where, "read the properties");
  check<DataError>(H5Pget_external_count(properties.id()) == 0, where, ": refers to another file");
  const H5D_layout_t kind = H5Pget_layout(properties.id());
  const Index bytes = bytes_of(layout, where);
  if (kind == H5D_CHUNKED) {
    read_chunks(properties, layout, where);
  } else {
    check<DataError>(kind == H5D_CONTIGUOUS, where, ": stored in a way that heddle does not use");
    const haddr_t offset = bytes == 0 ? 0 : H5Dget_offset(dataset.id());
    check<DataError>(offset <= static_cast<haddr_t>(file_size) && bytes <= file_size - static_cast<Index>(offset),
                     where, ": claims more elements than the file can hold");
  }
  return layout;
}

class LibraryGroup : public GroupSource {
 public:
  LibraryGroup(SharedFile library, Handle handle, std::shared_ptr<const FileName> file, std::string path,
               std::vector<Attribute> attributes)
      : GroupSource(std::move(file), std::move(path), std::move(attributes)),
        library_(std::move(library)),
        handle_(std::move(handle)) {}

  std::vector<std::string> names() const override;
  bool has(const std::string& name) const override;
  PartSource part(const std::string& name) const override;

 private:
  SharedFile library_;
  Handle handle_;
};

std::vector<std::string> LibraryGroup::names() const {
  const Lock lock;
  H5G_info_t info{};
  if (H5Gget_info(handle_.id(), &info) < 0) fail_reading(where(), "list the group");
  const Handle properties = reading(H5Gget_create_plist(handle_.id()), where(), "read the properties");
  unsigned order = 0;
  H5Pget_link_creation_order(properties.id(), &order);
  const H5_index_t index = order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::array<char, 4096> name{};
    const ssize_t length =
        H5Lget_name_by_idx(handle_.id(), ".", index, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    if (length < 0) fail_reading(where(), "list the group");
    names.emplace_back(name.data());
    check<DataError>(static_cast<std::size_t>(length) < name.size() && is_name(names.back()), where(),
                     ": has a part with an unprintable name. The file is damaged or not heddle's");
  }
  return names;
}

bool LibraryGroup::has(const std::string& name) const {
  const Lock lock;
  const htri_t exists = H5Lexists(handle_.id(), name.c_str(), H5P_DEFAULT);
  if (exists < 0) fail_reading(where(), "look up " + name);
  if (exists == 0) return false;
  H5L_info_t info{};
  if (H5Lget_info(handle_.id(), name.c_str(), &info, H5P_DEFAULT) < 0) fail_reading(where(), "look up " + name);
  check<DataError>(info.type == H5L_TYPE_HARD, where(), ": ", name, " is a link, which heddle does not support");
  return true;
}

PartSource LibraryGroup::part(const std::string& name) const {
  const Lock lock;
  const std::string path = path_of(this->path(), name), place = file().path + ": " + path;
  Handle object = reading(H5Oopen(handle_.id(), name.c_str(), H5P_DEFAULT), place, "open it");
  const H5I_type_t type = H5Iget_type(object.id());
  check<DataError>(type == H5I_GROUP || type == H5I_DATASET, place, ": is neither a group nor a data set");
  std::vector<Attribute> attributes = read_attributes(object, place);
  if (type == H5I_GROUP) {
    return std::make_shared<const LibraryGroup>(library_, std::move(object), shared_file(), path,
                                                std::move(attributes));
  }
  DatasetLayout layout = examine(object, place, file().size);
  return std::make_shared<const LibraryDataset>(library_, std::move(object), std::move(layout), shared_file(), path,
                                                std::move(attributes));
}

}  // namespace

std::shared_ptr<const GroupSource> open_by_library(std::shared_ptr<const Descriptor> file, const std::string& name) {
  constexpr std::size_t cached_chunks = 521, cached_bytes = std::size_t{8} << 20;  // per data set
  const Lock lock;
  const auto library = std::make_shared<LibraryFile>();
  library->descriptor = std::move(file);
  library->driver.descriptor = library->descriptor->number();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  if (!use_descriptor(access.id(), library->driver)) fail_writing(name, "open");
  require({H5Pset_cache(access.id(), 0, cached_chunks, cached_bytes, chunk_preemption)}, name);
  library->handle = reading(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), name, "open");
  Handle root = reading(H5Gopen2(library->handle.id(), "/", H5P_DEFAULT), name, "open the root group");
  std::vector<Attribute> attributes = read_attributes(root, name);
  return std::make_shared<const LibraryGroup>(
      library, std::move(root), std::make_shared<const FileName>(FileName{name, library->descriptor->size()}), "/",
      std::move(attributes));
}

}  // namespace heddle::formats::hdf5
