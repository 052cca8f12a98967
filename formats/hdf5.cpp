#include "heddle/formats/hdf5.hpp"

#include <array>

#include "heddle/formats/hdf5_library.hpp"
#include "heddle/formats/hdf5_probe.hpp"
#include "heddle/text/spelling.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr unsigned most_compact = 64;  // links or attributes in one header before HDF5 builds an index
constexpr unsigned compression_level = 4, text_compression_level = 1;  // text is wide, and mostly padding
constexpr double chunk_preemption = 0.75;  // HDF5's own default

// What groups have in common, the root among them: an order, no time of day, no index while they are small.
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
  const auto chunk = static_cast<hsize_t>(layout.chunk);
  require({H5Pset_chunk(id, 1, &chunk), H5Pset_fill_time(id, H5D_FILL_TIME_ALLOC)}, where);
  if (layout.compress && layout.dtype != DType::text) require({H5Pset_shuffle(id)}, where);
  const unsigned level = layout.dtype == DType::text ? text_compression_level : compression_level;
  if (layout.compress) require({H5Pset_deflate(id, level)}, where);
  return properties;
}

}  // namespace

std::string Group::child(const std::string& name) const {
  check<DataError>(!name.empty() && name != "." && name.find('/') == std::string::npos && is_name(name), where(), ": ",
                   text::quoted(name), " cannot name a part of a file");
  return path_ == "/" ? path_ + name : path_ + "/" + name;
}

std::vector<std::string> Group::names() const {
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
    check<DataError>(static_cast<std::size_t>(length) < name.size(), where(), ": a name is too long");
    names.emplace_back(name.data());
    check<DataError>(is_name(names.back()), where(),
                     ": has a part with an unprintable name. The file is damaged or not heddle's");
  }
  return names;
}

bool Group::has(const std::string& name) const {
  const Lock lock;
  child(name);
  const htri_t exists = H5Lexists(handle_.id(), name.c_str(), H5P_DEFAULT);
  if (exists < 0) fail_reading(where(), "look up " + name);
  if (exists == 0) return false;
  H5L_info_t info{};
  if (H5Lget_info(handle_.id(), name.c_str(), &info, H5P_DEFAULT) < 0) fail_reading(where(), "look up " + name);
  check<DataError>(info.type == H5L_TYPE_HARD, where(), ": ", name, " is a link, which heddle does not follow");
  return true;
}

std::variant<Group, Dataset> Group::part(const std::string& name) const {
  const Lock lock;
  check<DataError>(has(name), where(), ": lacks ", name, ". The file is damaged or not heddle's");
  const std::string path = child(name), place = file().path + ": " + path;
  const Handle object = reading(H5Oopen(handle_.id(), name.c_str(), H5P_DEFAULT), place, "open it");
  const H5I_type_t type = H5Iget_type(object.id());
  if (type == H5I_GROUP) return Group(file_, path, object);
  check<DataError>(type == H5I_DATASET, place, ": is neither a group nor a data set");
  return Dataset(file_, path, object, examine(object, place, file().size));
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

Dataset Group::dataset(const std::string& name, Index chunk_cache) const {
  const Lock lock;
  auto found = part(name);
  check<DataError>(std::holds_alternative<Dataset>(found), where(), ": ", name,
                   " is not a data set. The file is damaged or not heddle's");
  Dataset dataset = std::get<Dataset>(std::move(found));
  if (chunk_cache > 0) {
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS));
    // Slots for the chunks: HDF5 recommends a prime well above the number of chunks that fit.
    require({H5Pset_chunk_cache(access.id(), 521, static_cast<std::size_t>(chunk_cache), chunk_preemption)},
            dataset.where());
    dataset.handle_ = Handle();
    dataset.handle_ = reading(H5Dopen2(handle_.id(), name.c_str(), access.id()), dataset.where(), "open it");
  }
  return dataset;
}

Group Group::create_group(const std::string& name) {
  const Lock lock;
  const std::string path = child(name);
  const Handle properties(H5Pcreate(H5P_GROUP_CREATE));
  set_group_properties(properties, where());
  return {file_, path,
          writing(H5Gcreate2(handle_.id(), name.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), where(),
                  "add a group")};
}

Dataset Group::create_dataset(const std::string& name, const DatasetLayout& layout) {
  const Lock lock;
  const std::string path = child(name);
  const std::vector<hsize_t> extents(layout.extents.begin(), layout.extents.end());
  const std::vector<hsize_t> limits(extents.size(), H5S_UNLIMITED);
  const Handle space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), layout.chunk > 0 ? limits.data() : nullptr));
  const Handle type = element_type(layout.dtype, layout.text_width);
  const Handle properties = dataset_properties(layout, where());
  return {
      file_, path,
      writing(H5Dcreate2(handle_.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
              where(), "add a data set"),
      layout};
}

namespace {

// Opens and creates through the descriptor. Chunks are written whole, once, and read in parts or whole, once, so that
// keeping them would only cost time; dataset() knows exceptions.
Handle access_properties(DriverFile& file, const std::string& name) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  if (!use_descriptor(access.id(), file)) fail_writing(name, "open");
  require({H5Pset_cache(access.id(), 0, 1, 0, chunk_preemption)}, name);
  return access;
}

}  // namespace

File File::open(DriverFile& file, const std::string& name, Index size) {
  const auto open_here = [&]() -> File {
    const Lock lock;
    const Handle access = access_properties(file, name);
    return {std::make_shared<const FileName>(FileName{name, size}), file,
            reading(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), name, "open")};
  };
  std::optional<File> probed;  // in the child, where the root group must not outlive it
  const bool readable = probe_file(file.descriptor, name, [&] { return probed.emplace(open_here()).root(); });
  File opened = open_here();
  check<DataError>(readable, name, ": cannot list what is in it. The file is damaged or not heddle's");
  return opened;
}

File File::create(DriverFile& file, const std::string& name) {
  const Lock lock;
  const Handle access = access_properties(file, name), properties(H5Pcreate(H5P_FILE_CREATE));
  // Elements begin at multiples of 64 bytes, so that weights can be used where they lie in a mapped file.
  require({H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110), H5Pset_alignment(access.id(), 1, 64),
           H5Pset_small_data_block_size(access.id(), 0)},
          name);
  set_group_properties(properties, name);
  return {std::make_shared<const FileName>(FileName{name, 0}), file,
          writing(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, properties.id(), access.id()), name, "create")};
}

Group File::root() const {
  const Lock lock;
  return {name_, "/", reading(H5Gopen2(handle_.id(), "/", H5P_DEFAULT), name_->path, "open the root group")};
}

void File::close() {
  const Lock lock;
  if (H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL) < 0) fail_writing(name_->path, "write");
  handle_ = Handle();
}

}  // namespace heddle::formats::hdf5
