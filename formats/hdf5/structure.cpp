#include "formats/hdf5/structure.hpp"

#include <algorithm>
#include <cstring>

#include "formats/hdf5/lookup3.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

// Each structure is read once, and the objects in a heap are read once more. The structures of heddle's files are never
// larger than this, however large the file (which may be large without taking space on the disk).
constexpr std::uint64_t times_read = 2;
constexpr std::uint64_t most_structures = std::uint64_t{1} << 30;
// Memory of a path besides the names in it.
constexpr std::uint64_t times_path = 4, least_paths = std::uint64_t{1} << 20;

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace

void fail_damaged(const std::string& where, const std::string& fault) {
  throw DataError(where + ": " + fault + ". The file is damaged or not heddle's");
}

void fail_foreign(const std::string& where, const std::string& structure) {
  throw ForeignStructure(where + ": has " + structure +
                         ", which heddle does not write; --trust reads a file that you trust with the HDF5 library");
}

std::span<const std::byte> Cursor::take(std::uint64_t size) {
  if (size > bytes_.size()) fail_damaged(*where_, "a structure ends too early");
  const auto taken = bytes_.first(static_cast<std::size_t>(size));
  bytes_ = bytes_.subspan(taken.size());
  return taken;
}

std::uint64_t Cursor::number(std::uint64_t width) {
  return little_endian(take(width));
}

std::string_view Cursor::text(std::uint64_t size) {
  const auto letters = take(size);
  return {reinterpret_cast<const char*>(letters.data()), letters.size()};
}

std::string_view Cursor::text_until_nul() {
  const auto end = std::ranges::find(bytes_, std::byte{0});
  const std::string_view found = text(static_cast<std::uint64_t>(end - bytes_.begin()));
  take(1);
  return found;
}

void Cursor::expect(std::string_view signature) {
  if (text(signature.size()) != signature) fail_damaged(*where_, concatenate("lacks the structure ", signature));
}

void Cursor::expect_version(unsigned version, const char* structure) {
  const unsigned found = byte();
  if (found != version) fail_foreign(*where_, concatenate(structure, " ", found));
}

StructureReader::StructureReader(std::shared_ptr<const Descriptor> file)
    : file_(std::move(file)), size_(file_->size()) {}

bool StructureReader::lies_within(Address address, std::uint64_t size) const {
  const auto end = static_cast<std::uint64_t>(size_);
  return address <= end && size <= end - address;
}

void StructureReader::count(std::uint64_t bytes, const std::string& where) {
  const std::uint64_t most = std::min(times_read * static_cast<std::uint64_t>(size_), most_structures);
  if (bytes > most - structures_) fail_damaged(where, "structures that overlap or are endless");
  structures_ += bytes;
}

void StructureReader::count_elements(std::uint64_t bytes, const std::string& where) {
  if (bytes > static_cast<std::uint64_t>(size_) - elements_) {
    fail_damaged(where, "claims more elements than the file can hold");
  }
  elements_ += bytes;
}

void StructureReader::count_path(std::uint64_t bytes, const std::string& where) {
  if (bytes > times_path * static_cast<std::uint64_t>(size_) + least_paths - paths_) {
    fail_damaged(where, "names that are too long, in too many groups");
  }
  paths_ += bytes;
}

std::vector<std::byte> StructureReader::read(Address address, std::uint64_t size, const std::string& where) {
  if (!lies_within(address, size)) fail_damaged(where, "a structure lies beyond the end of the file");
  count(size, where);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  read_elements(address, bytes, where);
  return bytes;
}

std::vector<std::byte> StructureReader::read_checked(Address address, std::uint64_t size, const std::string& where) {
  std::vector<std::byte> bytes = read(address, size, where);
  check_sound(bytes, where);
  return bytes;
}

void StructureReader::read_elements(Address address, std::span<std::byte> bytes, const std::string& where) const {
  if (!lies_within(address, bytes.size()) ||
      file_->read_at(static_cast<Index>(address), bytes.data(), bytes.size()) != bytes.size()) {
    fail_damaged(where, "elements lie beyond the end of the file");
  }
}

void check_sound(std::span<const std::byte> structure, const std::string& where) {
  if (structure.size() < checksum_width) fail_damaged(where, "a structure ends too early");
  const auto content = structure.first(structure.size() - checksum_width);
  if (!is_sound(content, static_cast<std::uint32_t>(little_endian(structure.last(checksum_width))))) {
    fail_damaged(where, "the checksum of a structure does not match");
  }
}

}  // namespace heddle::formats::hdf5
