#include "formats/hdf5/library.hpp"

#include <bit>
#include <vector>

namespace heddle::formats::hdf5 {

static_assert(std::endian::native == std::endian::little, "files are little-endian and are read without conversion");

namespace {

// Never destroyed: handles of static objects may be closed later.
std::recursive_mutex& library_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

// Called for the innermost error first.
herr_t keep_first(unsigned depth, const H5E_error2_t* error, void* reason) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
  return 0;
}

std::string last_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason.empty() ? "no reason given" : reason;
}

}  // namespace

Lock::Lock() : guard_(library_mutex()) {
  static const bool filters_stay_out = H5PLset_loading_state(0) >= 0;
  static_cast<void>(filters_stay_out);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // a setting of each thread, if HDF5 is thread-safe
}

void fail_reading(const std::string& where, const std::string& attempt) {
  throw DataError(where + ": cannot " + attempt + ": " + last_reason() + ". The file is damaged or not heddle's");
}

void fail_writing(const std::string& where, const std::string& attempt) {
  throw DataError(where + ": cannot " + attempt + ": " + last_reason());
}

void require(std::initializer_list<herr_t> statuses, const std::string& where) {
  for (const herr_t status : statuses) {
    if (status < 0) fail_writing(where, "prepare HDF5");
  }
}

Handle::Handle(const Handle& other) : id_(other.id_) {
  const Lock lock;
  if (id_ >= 0) H5Iinc_ref(id_);
}

Handle::~Handle() {
  if (id_ < 0) return;
  const Lock lock;
  if (H5Iis_valid(id_) > 0) H5Idec_ref(id_);  // closing a file closes what is in it
}

Handle text_type(Index width) {
  Handle type(H5Tcopy(H5T_C_S1));
  require({H5Tset_size(type.id(), static_cast<std::size_t>(width)), H5Tset_strpad(type.id(), H5T_STR_NULLTERM),
           H5Tset_cset(type.id(), H5T_CSET_UTF8)},
          "text type");
  return type;
}

namespace {

// HDF5 has no bfloat16 of its own, but describes any float: 1 bit of sign, 8 of exponent, 7 of fraction. Programs that
// read such numbers as float32 or float64 get them from HDF5 so.
Handle bfloat16_type() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE));
  require({H5Tset_fields(type.id(), 15, 7, 8, 0, 7), H5Tset_precision(type.id(), 16), H5Tset_size(type.id(), 2)},
          "bfloat16 type");
  return type;
}

}  // namespace

Handle stored_dtype(DType dtype, Index text_width) {
  switch (dtype) {
    case DType::int8:
      return Handle(H5Tcopy(H5T_STD_I8LE));
    case DType::int64:
      return Handle(H5Tcopy(H5T_STD_I64LE));
    case DType::uint16:
      return Handle(H5Tcopy(H5T_STD_U16LE));
    case DType::uint32:
      return Handle(H5Tcopy(H5T_STD_U32LE));
    case DType::uint64:
      return Handle(H5Tcopy(H5T_STD_U64LE));
    case DType::bfloat16:
      return bfloat16_type();
    case DType::float32:
      return Handle(H5Tcopy(H5T_IEEE_F32LE));
    case DType::float64:
      return Handle(H5Tcopy(H5T_IEEE_F64LE));
    case DType::text:
      break;
  }
  return text_type(text_width);
}

Handle boolean_type() {
  Handle type(H5Tenum_create(H5T_STD_I8LE));
  const std::int8_t no = 0, yes = 1;
  require({H5Tenum_insert(type.id(), "FALSE", &no), H5Tenum_insert(type.id(), "TRUE", &yes)}, "boolean type");
  return type;
}

std::pair<Handle, Handle> select_rows(const Handle& dataset, const DatasetLayout& layout, Index first, Index count,
                                      const std::string& where) {
  Handle file_space(H5Dget_space(dataset.id()));
  if (layout.extents.empty()) return {file_space, file_space};
  std::vector<hsize_t> start(layout.extents.size()), extents(layout.extents.begin(), layout.extents.end());
  start[0] = static_cast<hsize_t>(first);
  extents[0] = static_cast<hsize_t>(count);
  require({H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr)},
          where);
  return {file_space, Handle(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr))};
}

}  // namespace heddle::formats::hdf5
