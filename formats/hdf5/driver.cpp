#include "formats/hdf5/driver.hpp"

#include <hdf5.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>  // HDF5 1.14's header for drivers
#endif
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>

namespace heddle::formats::hdf5 {

namespace {

struct OpenFile {
  H5FD_t base;  // HDF5's own part, first
  DriverFile* file;
  bool for_writing;
  haddr_t end_of_allocation;
  haddr_t end_of_file;
};

OpenFile* self(H5FD_t* base) {
  return reinterpret_cast<OpenFile*>(base);
}
const OpenFile* self(const H5FD_t* base) {
  return reinterpret_cast<const OpenFile*>(base);
}

H5FD_t* open(const char*, unsigned flags, hid_t access, haddr_t) {
  const void* info = H5Pget_driver_info(access);
  if (info == nullptr) return nullptr;
  DriverFile* file = *static_cast<DriverFile* const*>(info);
  struct stat status {};
  if (::fstat(file->descriptor, &status) != 0) return nullptr;
  const bool for_writing = (flags & H5F_ACC_RDWR) != 0;
  return &(new OpenFile{{}, file, for_writing, 0, static_cast<haddr_t>(status.st_size)})->base;
}

herr_t close(H5FD_t* base) {
  delete self(base);
  return 0;
}

// HDF5 also calls this without a file. Only files being written are read through the accumulator: that of HDF5 1.10
// reads outside its buffer for addresses near 2^64, which a hostile file may have.
herr_t query(const H5FD_t* base, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  if (base == nullptr || self(base)->for_writing) *flags |= H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t get_eoa(const H5FD_t* base, H5FD_mem_t) {
  return self(base)->end_of_allocation;
}
haddr_t get_eof(const H5FD_t* base, H5FD_mem_t) {
  return self(base)->end_of_file;
}

herr_t set_eoa(H5FD_t* base, H5FD_mem_t, haddr_t address) {
  self(base)->end_of_allocation = address;
  return 0;
}

// Space that was allocated and never written reads as zeros, in a file being written.
herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  const haddr_t end = self(base)->end_of_file;
  if (!self(base)->for_writing && (address > end || size > end - address)) return -1;
  auto* bytes = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = ::pread(self(base)->file->descriptor, bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) {
      std::memset(bytes, 0, size);
      return 0;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return 0;
}

herr_t write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
  DriverFile& file = *self(base)->file;
  const auto* bytes = static_cast<const char*>(buffer);
  self(base)->end_of_file = std::max(self(base)->end_of_file, address + size);
  while (size > 0 && file.write_error == 0) {
    const ssize_t count = ::pwrite(file.descriptor, bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      file.write_error = count < 0 ? errno : EIO;
      return 0;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return 0;
}

herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
  OpenFile* open_file = self(base);
  DriverFile& file = *open_file->file;
  if (open_file->end_of_allocation == open_file->end_of_file || file.write_error != 0) return 0;
  if (::ftruncate(file.descriptor, static_cast<off_t>(open_file->end_of_allocation)) != 0) file.write_error = errno;
  open_file->end_of_file = open_file->end_of_allocation;
  return 0;
}

H5FD_class_t describe_driver() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(500);  // in HDF5's range for applications
#endif
  driver.name = "heddle_descriptor";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverFile*);
  driver.open = open;
  driver.close = close;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  const H5FD_mem_t kinds_of_space[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kinds_of_space), std::end(kinds_of_space), driver.fl_map);
  return driver;
}

}  // namespace

bool use_descriptor(std::int64_t access_properties, DriverFile& file) {
  static const H5FD_class_t description = describe_driver();
  static const hid_t driver = H5FDregister(&description);
  DriverFile* const info = &file;
  return driver >= 0 && H5Pset_driver(access_properties, driver, &info) >= 0;
}

}  // namespace heddle::formats::hdf5
