#include "heddle/formats/hdf5_library.hpp"

#include <bit>

namespace heddle::formats::hdf5 {

static_assert(std::endian::native == std::endian::little, "files are little-endian and are read without conversion");

namespace {

std::recursive_mutex*& library_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return mutex;
}

// Called for the innermost error first.
herr_t keep_first(unsigned depth, const H5E_error2_t* error, void* reason) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(reason) = error->desc;
  return 0;
}

}  // namespace

Lock::Lock() : guard_(*library_mutex()) {
  static const bool filters_stay_out = H5PLset_loading_state(0) >= 0;
  static_cast<void>(filters_stay_out);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // a setting of each thread, where HDF5 knows threads
}

void forget_lock() {
  library_mutex() = new std::recursive_mutex;
}

std::string last_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason.empty() ? "no reason given" : reason;
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

std::string name_of(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return "int8";
    case DType::int64:
      return "int64";
    case DType::uint16:
      return "uint16";
    case DType::uint32:
      return "uint32";
    case DType::uint64:
      return "uint64";
    case DType::bfloat16:
      return "bfloat16";
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::text:
      return "text";
  }
  throw Error("element without a name");
}

Index size_of(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return 1;
    case DType::uint16:
    case DType::bfloat16:
      return 2;
    case DType::uint32:
    case DType::float32:
      return 4;
    case DType::int64:
    case DType::uint64:
    case DType::float64:
      return 8;
    case DType::text:
      break;
  }
  throw Error("text elements have no fixed size");
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

Handle element_type(DType dtype, Index text_width) {
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

bool can_compress() {
  const Lock lock;
  return H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
}

}  // namespace heddle::formats::hdf5
