#include "formats/hdf5/fractal_heap.hpp"

#include <algorithm>
#include <bit>

#include "formats/hdf5/btree.hpp"
#include "formats/hdf5/lookup3.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

std::uint64_t log2_of(std::uint64_t power) {
  return static_cast<std::uint64_t>(std::countr_zero(power));
}

// Bytes needed for a number of this many bits.
std::uint64_t width_of_bits(std::uint64_t bits) {
  return (bits + 7) / 8;
}

}  // namespace

FractalHeap::FractalHeap(StructureReader& file, Address address, const std::string& where)
    : file_(file), address_(address), where_(where) {
  constexpr std::uint64_t header_width = 146;
  const std::vector<std::byte> header = file_.read_checked(address, header_width, where_);
  read_header(Cursor(header, where_));
  check_proportions();
}

void FractalHeap::read_header(Cursor header) {
  constexpr unsigned has_checksums = 2;
  header.expect("FRHP");
  header.expect_version(0, "a heap of version");
  id_width_ = header.number(2);
  if (header.number(2) != 0) fail_foreign(where_, "a heap with filters");
  has_block_checksums_ = header.byte() & has_checksums;
  const std::uint64_t largest_object = header.number(4);
  header.take(8);  // number of the next huge object
  huge_index_ = header.address();
  header.take(10 * 8);  // free space and number of objects
  columns_ = header.number(2);
  first_width_ = header.number(8);
  largest_direct_ = header.number(8);
  bits_ = header.number(2);
  header.take(2);  // rows of the first indirect block
  root_ = header.address();
  root_rows_ = header.number(2);
  offset_width_ = width_of_bits(bits_);
  length_width_ = std::min(width_of_bits(log2_of(largest_direct_)),
                           width_of_bits(static_cast<std::uint64_t>(std::bit_width(largest_object))));
}

// Sizes that heaps of the library can have; others would make arithmetic overflow.
void FractalHeap::check_proportions() const {
  constexpr std::uint64_t most_columns = 256, most_direct = 1 << 24, most_bits = 56, widest_id = 16;
  const bool possible =
      std::has_single_bit(columns_) && columns_ <= most_columns && std::has_single_bit(first_width_) &&
      std::has_single_bit(largest_direct_) && first_width_ <= largest_direct_ && largest_direct_ <= most_direct &&
      columns_ * first_width_ <= largest_direct_ && bits_ <= most_bits && log2_of(columns_ * largest_direct_) < bits_ &&
      root_rows_ <= bits_ && id_width_ <= widest_id && id_width_ >= 1 + offset_width_ + length_width_;
  if (!possible) fail_damaged(where_, "has a heap of impossible proportions");
}

std::uint64_t FractalHeap::row_width(std::uint64_t row) const {
  return row == 0 ? first_width_ : first_width_ << (row - 1);
}

std::uint64_t FractalHeap::row_begin(std::uint64_t row) const {
  return row == 0 ? 0 : columns_ * row_width(row);
}

std::uint64_t FractalHeap::row_of(std::uint64_t offset) const {
  return static_cast<std::uint64_t>(std::bit_width(offset / (columns_ * first_width_)));
}

std::uint64_t FractalHeap::rows_of_block(std::uint64_t width) const {
  return log2_of(width) - log2_of(columns_ * first_width_) + 1;
}

Bytes FractalHeap::object(Bytes id) {
  constexpr unsigned managed = 0, huge = 1;
  Cursor cursor(id, where_);
  const unsigned flags = cursor.byte();
  if (flags >> 6 != 0) fail_damaged(where_, "has a heap id of an unknown version");
  const unsigned type = flags >> 4 & 3;
  if (type != managed && type != huge) fail_foreign(where_, concatenate("an object in a heap of type ", type));
  const Bytes found = type == managed ? managed_object(cursor) : huge_object(cursor);
  file_.count(found.size(), where_);
  return found;
}

Bytes FractalHeap::managed_object(Cursor id) {
  const std::uint64_t offset = id.number(offset_width_), size = id.number(length_width_);
  const Block& block = find_block(offset);
  const std::uint64_t within = offset - block.offset;
  if (within > block.bytes.size() || size > block.bytes.size() - within) {
    fail_damaged(where_, "has an object beyond the end of its heap");
  }
  return Bytes(block.bytes).subspan(within, size);
}

// Descends from the root to the direct block that contains the offset.
const FractalHeap::Block& FractalHeap::find_block(std::uint64_t offset) {
  const auto known = blocks_.upper_bound(offset);
  if (known != blocks_.begin()) {
    const Block& before = std::prev(known)->second;
    if (offset - before.offset < before.bytes.size()) return before;
  }
  if (root_rows_ == 0) {
    if (offset >= first_width_) fail_damaged(where_, "has an object beyond the end of its heap");
    return open_block(root_, 0, first_width_);
  }
  Address indirect = root_;
  std::uint64_t begin = 0, rows = root_rows_;
  for (;;) {
    const std::uint64_t row = row_of(offset - begin);
    if (row >= rows) fail_damaged(where_, "has an object beyond the end of its heap");
    const std::uint64_t width = row_width(row), column = (offset - begin - row_begin(row)) / width;
    const Address child = child_of(indirect, begin, rows, row, column);
    begin += row_begin(row) + column * width;
    if (width <= largest_direct_) return open_block(child, begin, width);
    indirect = child;
    rows = rows_of_block(width);
  }
}

Address FractalHeap::child_of(Address indirect, std::uint64_t begin, std::uint64_t rows, std::uint64_t row,
                              std::uint64_t column) {
  auto found = indirect_.find(indirect);
  const std::uint64_t prefix = 4 + 1 + address_width + offset_width_;
  if (found == indirect_.end()) {
    const std::uint64_t width = prefix + rows * columns_ * address_width + checksum_width;
    found = indirect_.emplace(indirect, file_.read_checked(indirect, width, where_)).first;
  }
  Cursor cursor(found->second, where_);
  cursor.expect("FHIB");
  cursor.expect_version(0, "an indirect block of version");
  if (cursor.address() != address_ || cursor.number(offset_width_) != begin) {
    fail_damaged(where_, "has a heap with blocks in the wrong places");
  }
  cursor.take((row * columns_ + column) * address_width);
  return cursor.address();
}

const FractalHeap::Block& FractalHeap::open_block(Address address, std::uint64_t offset, std::uint64_t width) {
  std::vector<std::byte> bytes = file_.read(address, width, where_);
  Cursor cursor(bytes, where_);
  cursor.expect("FHDB");
  cursor.expect_version(0, "a block of version");
  if (cursor.address() != address_ || cursor.number(offset_width_) != offset) {
    fail_damaged(where_, "has a heap with blocks in the wrong places");
  }
  if (has_block_checksums_) {
    // Computed while the checksum itself, after the block's prefix, was zero.
    const std::uint64_t at = width - cursor.left();
    const auto checksum = static_cast<std::uint32_t>(cursor.number(checksum_width));
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), checksum_width, std::byte{0});
    if (!is_sound(bytes, checksum)) fail_damaged(where_, "the checksum of a structure does not match");
  }
  return blocks_.emplace(offset, Block{offset, std::move(bytes)}).first->second;
}

// Objects too large for blocks have numbers, which an index maps to their places.
Bytes FractalHeap::huge_object(Cursor id) {
  if (id_width_ >= 1 + 2 * address_width) fail_foreign(where_, "a heap with ids that are addresses");
  if (!has_huge_objects_) read_huge_objects();
  const std::uint64_t number = id.number(std::min(id_width_ - 1, address_width));
  const auto found = huge_objects_.find(number);
  if (found == huge_objects_.end()) fail_damaged(where_, "lacks an object of its heap");
  const auto loaded = loaded_.find(number);
  if (loaded != loaded_.end()) return loaded->second;
  return loaded_.emplace(number, file_.read(found->second.address, found->second.size, where_)).first->second;
}

void FractalHeap::read_huge_objects() {
  constexpr std::uint64_t record_width = 24;
  visit_records(file_, huge_index_, RecordType::huge_object, record_width, where_, [&](Bytes record) {
    Cursor cursor(record, where_);
    const Address address = cursor.address();
    const std::uint64_t size = cursor.number(8);
    huge_objects_.emplace(cursor.number(8), HugeObject{address, size});
  });
  has_huge_objects_ = true;
}

}  // namespace heddle::formats::hdf5
