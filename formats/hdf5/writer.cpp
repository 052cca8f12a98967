#include "formats/hdf5/writer.hpp"

#include "formats/hdf5/library.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr unsigned most_compact = 64;  // links or attributes in one header before HDF5 builds an index
constexpr unsigned compression_level = 4, text_compression_level = 1;  // text is wide, and mostly padding

// Properties of all groups, including the root: creation order, no timestamps, no index while they are small.
void set_group_properties(const Handle& properties, const std::string& where) {
  const hid_t id = properties.id();
  require({H5Pset_link_creation_order(id, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
           H5Pset_link_phase_change(id, most_compact, most_compact / 2),
           H5Pset_attr_phase_change(id, most_compact, most_compact / 2), H5Pset_obj_track_times(id, false)},
          where);
}

Handle dataset_properties(const DatasetLayout& layout, const std::string& where) {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  const hid_t id = properties.id();
  require({H5Pset_obj_track_times(id, false)}, where);
  if (layout.chunk == 0) {
    require({H5Pset_layout(id, H5D_CONTIGUOUS), H5Pset_alloc_time(id, H5D_ALLOC_TIME_LATE),
             H5Pset_fill_time(id, H5D_FILL_TIME_NEVER)},
            where);
    return properties;
  }
  std::vector<hsize_t> chunk(layout.extents.begin(), layout.extents.end());
  chunk[0] = static_cast<hsize_t>(layout.chunk);
  require({H5Pset_chunk(id, static_cast<int>(chunk.size()), chunk.data()), H5Pset_fill_time(id, H5D_FILL_TIME_ALLOC)},
          where);
  if (layout.compress && layout.dtype != DType::text) require({H5Pset_shuffle(id)}, where);
  const unsigned level = layout.dtype == DType::text ? text_compression_level : compression_level;
  if (layout.compress) require({H5Pset_deflate(id, level)}, where);
  return properties;
}

void write_attribute(const Handle& object, const std::string& where, const std::string& name, hid_t type,
                     const void* value) {
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle attribute = writing(H5Acreate2(object.id(), name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                                   where, "add an attribute");
  if (H5Awrite(attribute.id(), type, value) < 0) fail_writing(where, "write attribute " + name);
}

}  // namespace

template <>
void OutputObject::set_attribute<bool>(const std::string& name, const bool& value) {
  const Lock lock;
  const std::int8_t byte = value ? 1 : 0;
  write_attribute(handle_, where(), name, boolean_type().id(), &byte);
}

template <>
void OutputObject::set_attribute<Index>(const std::string& name, const Index& value) {
  const Lock lock;
  write_attribute(handle_, where(), name, stored_dtype(DType::int64).id(), &value);
}

template <>
void OutputObject::set_attribute<double>(const std::string& name, const double& value) {
  const Lock lock;
  write_attribute(handle_, where(), name, stored_dtype(DType::float64).id(), &value);
}

// Fixed-length text is stored in the object's own header, covered by HDF5's checksum; text of variable length is not.
template <>
void OutputObject::set_attribute<std::string>(const std::string& name, const std::string& value) {
  const Lock lock;
  check<DataError>(is_text(value), where(), ": attribute ", name, " would hold text that is not UTF-8 without NUL");
  const Handle type = text_type(static_cast<Index>(value.size()) + 1);
  write_attribute(handle_, where(), name, type.id(), value.c_str());
}

void OutputDataset::resize(Index rows) {
  const Lock lock;
  std::vector<hsize_t> extents(layout_.extents.begin(), layout_.extents.end());
  extents[0] = static_cast<hsize_t>(rows);
  if (H5Dset_extent(handle_.id(), extents.data()) < 0) fail_writing(where(), "make room");
  layout_.extents[0] = rows;
}

void OutputDataset::write_rows(DType dtype, Index first, Index count, const void* data, std::size_t bytes) {
  const Lock lock;
  check<DataError>(dtype == layout_.dtype, where(), ": holds ", name_of(layout_.dtype), ", not ", name_of(dtype));
  check_rows(layout_, first, count, bytes, where());
  if (bytes == 0) return;
  const auto [file_space, memory_space] = select_rows(handle_, layout_, first, count, where());
  const Handle type = stored_dtype(dtype, layout_.text_width);
  if (H5Dwrite(handle_.id(), type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, data) < 0) {
    fail_writing(where(), "write the elements");
  }
}

std::string OutputGroup::child(const std::string& name) const {
  check<DataError>(is_name(name), where(), ": ", text::quoted(name), " cannot name a part of a file");
  return path_of(path_, name);
}

OutputGroup OutputGroup::create_group(const std::string& name) {
  const Lock lock;
  const std::string path = child(name);
  const Handle properties(H5Pcreate(H5P_GROUP_CREATE));
  set_group_properties(properties, where());
  return {file_, path,
          writing(H5Gcreate2(handle_.id(), name.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), where(),
                  "add a group")};
}

OutputGroup OutputGroup::group(const std::string& name) {
  const Lock lock;
  const std::string path = child(name);
  const htri_t exists = H5Lexists(handle_.id(), name.c_str(), H5P_DEFAULT);
  if (exists < 0) fail_writing(where(), "look up " + name);
  if (exists == 0) return create_group(name);
  return {file_, path, writing(H5Gopen2(handle_.id(), name.c_str(), H5P_DEFAULT), where(), "open a group")};
}

OutputDataset OutputGroup::create_dataset(const std::string& name, const DatasetLayout& layout) {
  const Lock lock;
  const std::string path = child(name);
  const std::vector<hsize_t> extents(layout.extents.begin(), layout.extents.end());
  std::vector<hsize_t> limits = extents;
  if (!limits.empty()) limits[0] = H5S_UNLIMITED;
  const Handle space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), layout.chunk > 0 ? limits.data() : nullptr));
  const Handle type = stored_dtype(layout.dtype, layout.text_width);
  const Handle properties = dataset_properties(layout, where());
  return {
      file_, path,
      writing(H5Dcreate2(handle_.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
              where(), "add a data set"),
      layout};
}

bool can_compress() {
  const Lock lock;
  return H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
}

std::string library_version() {
  const Lock lock;
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return concatenate(major, ".", minor, ".", release);
}

Writer Writer::create(DriverFile& file, const std::string& name) {
  const Lock lock;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS)), properties(H5Pcreate(H5P_FILE_CREATE));
  if (!use_descriptor(access.id(), file)) fail_writing(name, "open");
  // Chunks are written whole, once, so that caching them would only cost time. The structures are those of HDF5 1.10.
  // Elements begin at multiples of 64 bytes, so that weights can be used in a mapped file without a copy; those of
  // fewer bytes fill the gaps before others, of which the library would else search the list for each.
  require({H5Pset_cache(access.id(), 0, 1, 0, chunk_preemption),
           H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110), H5Pset_alignment(access.id(), 64, 64),
           H5Pset_small_data_block_size(access.id(), 0)},
          name);
  set_group_properties(properties, name);
  return {std::make_shared<const FileName>(FileName{name, 0}),
          writing(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, properties.id(), access.id()), name, "create")};
}

OutputGroup Writer::root() const {
  const Lock lock;
  return {name_, "/", writing(H5Gopen2(handle_.id(), "/", H5P_DEFAULT), name_->path, "open the root group")};
}

void Writer::close() {
  const Lock lock;
  if (H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL) < 0) fail_writing(name_->path, "write");
  handle_ = Handle();
}

}  // namespace heddle::formats::hdf5
