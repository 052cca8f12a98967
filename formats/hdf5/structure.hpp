// Bytes of an untrusted file: structures are read whole, from within the file only, and decoded by a cursor that checks
// their ends. The total size of all structures is bounded by the file's size, so that structures which contain each
// other or overlap are refused.
//
// Source of all structures: the HDF5 File Format Specification, version 3.0. Numbers are little-endian and without
// sign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/files/descriptor.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

// A place in the file, as stored; it may be invalid.
using Address = std::uint64_t;
inline constexpr Address undefined_address = ~Address{0};

// Bytes that a checksum and an address take.
inline constexpr std::uint64_t checksum_width = 4, address_width = 8;

// A structure that is valid, but not as heddle writes it.
struct ForeignStructure : DataError {
  using DataError::DataError;
};

// Throw DataError: the file is damaged; and ForeignStructure.
[[noreturn]] void fail_damaged(const std::string& where, const std::string& fault);
[[noreturn]] void fail_foreign(const std::string& where, const std::string& structure);

// Reads a structure from beginning to end. Throws DataError if it ends too early.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(&where) {}

  std::span<const std::byte> take(std::uint64_t size);
  std::uint64_t number(std::uint64_t width);  // width: 1 to 8 bytes
  unsigned byte() { return static_cast<unsigned>(number(1)); }
  Address address() { return number(8); }
  std::string_view text(std::uint64_t size);
  std::string_view text_until_nul();
  // Throws DataError unless these letters come next.
  void expect(std::string_view signature);
  // Throws DataError unless this byte comes next; `structure` is "link of version".
  void expect_version(unsigned version, const char* structure);
  std::size_t left() const { return bytes_.size(); }
  const std::string& where() const { return *where_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string* where_;  // the reader's name, for errors
};

class StructureReader {
 public:
  explicit StructureReader(std::shared_ptr<const Descriptor> file);

  Index file_size() const { return size_; }
  bool lies_within(Address address, std::uint64_t size) const;
  // The bytes of a structure, or of a part of one. Throws DataError if they are not in the file, or more than all
  // structures of a file can have.
  std::vector<std::byte> read(Address address, std::uint64_t size, const std::string& where);
  // The same, with a checksum in the last four bytes, which must be right.
  std::vector<std::byte> read_checked(Address address, std::uint64_t size, const std::string& where);
  // Counts bytes that are read once more.
  void count(std::uint64_t bytes, const std::string& where);
  // Counts the bytes of a data set's elements in the file, and the memory of the names of objects.
  void count_elements(std::uint64_t bytes, const std::string& where);
  void count_path(std::uint64_t bytes, const std::string& where);
  // Elements; not counted.
  void read_elements(Address address, std::span<std::byte> bytes, const std::string& where) const;

 private:
  std::shared_ptr<const Descriptor> file_;
  Index size_;
  std::uint64_t structures_ = 0, elements_ = 0, paths_ = 0;  // bytes so far
};

// Throws DataError unless the last four bytes are the checksum of the others.
void check_sound(std::span<const std::byte> structure, const std::string& where);

}  // namespace heddle::formats::hdf5
