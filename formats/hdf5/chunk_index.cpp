#include "formats/hdf5/chunk_index.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr std::uint64_t mask_width = 4;
constexpr std::uint64_t offset_width = 4;                            // width of a block's place in the array
constexpr std::uint64_t block_prefix = 4 + 1 + 1 + address_width;    // signature, version, what has the array, header
constexpr std::uint64_t elements_in_index = 4, least_elements = 16;  // elements of a data block
constexpr std::uint64_t elements_in_page = 1024;
// Secondary block number s, from 0 on, has 2^(s/2) data blocks of 16 * 2^((s+1)/2) elements. The index block has the
// addresses of the data blocks of the first four, and of the other 25 secondary blocks.
constexpr std::uint64_t direct_secondaries = 4, direct_blocks = 6, secondaries = 29;

std::uint64_t blocks_of(std::uint64_t secondary) {
  return std::uint64_t{1} << secondary / 2;
}
std::uint64_t elements_of_block(std::uint64_t secondary) {
  return least_elements << (secondary + 1) / 2;
}

class ExtensibleArray {
 public:
  ExtensibleArray(StructureReader& file, bool filtered, std::uint64_t count, const std::string& where)
      : file_(file), filtered_(filtered), count_(count), where_(where) {}

  std::vector<Chunk> read(Address header);

 private:
  void read_header(Address header);
  void read_index_block();
  void read_secondary(std::uint64_t number, Address address);
  void read_block(Address address, std::uint64_t elements);
  void add(Cursor& cursor, std::uint64_t elements);
  bool is_complete() const { return chunks_.size() >= count_; }
  Cursor open(const std::vector<std::byte>& bytes, const char* signature) const;

  StructureReader& file_;
  bool filtered_;
  std::uint64_t count_;
  const std::string& where_;
  Address header_ = undefined_address, index_block_ = undefined_address;
  std::uint64_t element_width_ = address_width;
  std::vector<Chunk> chunks_;
};

Cursor ExtensibleArray::open(const std::vector<std::byte>& bytes, const char* signature) const {
  Cursor cursor(bytes, where_);
  cursor.expect(signature);
  cursor.expect_version(0, "an index of chunks of version");
  if (cursor.byte() != static_cast<unsigned>(filtered_)) fail_damaged(where_, "has an index of the wrong type");
  return cursor;
}

void ExtensibleArray::read_header(Address header) {
  constexpr std::uint64_t header_width = 72, widest_size = 8;
  const std::vector<std::byte> bytes = file_.read_checked(header, header_width, where_);
  Cursor cursor = open(bytes, "EAHD");
  element_width_ = cursor.byte();
  const std::uint64_t least = address_width + (filtered_ ? mask_width + 1 : 0);
  if (element_width_ < least || element_width_ > (filtered_ ? address_width + mask_width + widest_size : least)) {
    fail_damaged(where_, "has an index with elements of impossible width");
  }
  cursor.take(5 + 6 * 8);  // proportions, which the layout has too, and how much there is
  header_ = header;
  index_block_ = cursor.address();
}

// Elements of chunks beyond those asked for are passed over.
void ExtensibleArray::add(Cursor& cursor, std::uint64_t elements) {
  for (std::uint64_t i = 0; i < elements && !is_complete(); ++i) {
    Chunk chunk{.address = cursor.address()};
    if (filtered_) {
      chunk.size = cursor.number(element_width_ - address_width - mask_width);
      chunk.filters_left_out = static_cast<std::uint32_t>(cursor.number(mask_width));
    }
    chunks_.push_back(chunk);
  }
}

void ExtensibleArray::read_block(Address address, std::uint64_t elements) {
  const std::uint64_t prefix = block_prefix + offset_width;
  if (elements <= elements_in_page) {
    const auto bytes = file_.read_checked(address, prefix + elements * element_width_ + checksum_width, where_);
    Cursor cursor = open(bytes, "EADB");
    cursor.take(prefix - block_prefix + address_width);
    return add(cursor, elements);
  }
  open(file_.read_checked(address, prefix + checksum_width, where_), "EADB");
  const std::uint64_t page_width = elements_in_page * element_width_ + checksum_width;
  Address page = address + prefix + checksum_width;
  for (std::uint64_t i = 0; i < elements / elements_in_page && !is_complete(); ++i, page += page_width) {
    const auto bytes = file_.read_checked(page, page_width, where_);
    Cursor cursor(bytes, where_);
    add(cursor, elements_in_page);
  }
}

void ExtensibleArray::read_secondary(std::uint64_t number, Address address) {
  const std::uint64_t blocks = blocks_of(number), elements = elements_of_block(number);
  const std::uint64_t pages = elements > elements_in_page ? elements / elements_in_page : 0;
  const std::uint64_t page_flags = blocks * ((pages + 7) / 8);  // whether each page was ever written
  const std::uint64_t prefix = block_prefix + offset_width + page_flags;
  const auto bytes = file_.read_checked(address, prefix + blocks * address_width + checksum_width, where_);
  open(bytes, "EASB");
  Cursor addresses(std::span<const std::byte>(bytes).subspan(prefix), where_);
  for (std::uint64_t i = 0; i < blocks && !is_complete(); ++i) read_block(addresses.address(), elements);
}

void ExtensibleArray::read_index_block() {
  const std::uint64_t pointers = direct_blocks + secondaries - direct_secondaries;
  const std::uint64_t width = block_prefix + elements_in_index * element_width_ + pointers * address_width;
  const auto bytes = file_.read_checked(index_block_, width + checksum_width, where_);
  Cursor cursor = open(bytes, "EAIB");
  if (cursor.address() != header_) fail_damaged(where_, "has an index with blocks in the wrong places");
  Cursor elements(cursor.take(elements_in_index * element_width_), where_);
  add(elements, elements_in_index);
  for (std::uint64_t number = 0; number < secondaries && !is_complete(); ++number) {
    if (number >= direct_secondaries) {
      read_secondary(number, cursor.address());
      continue;
    }
    for (std::uint64_t i = 0; i < blocks_of(number); ++i) {
      const Address block = cursor.address();
      if (!is_complete()) read_block(block, elements_of_block(number));
    }
  }
}

std::vector<Chunk> ExtensibleArray::read(Address header) {
  if (count_ > 0) {
    read_header(header);
    read_index_block();
  }
  if (!is_complete()) fail_damaged(where_, "lacks chunks");
  return std::move(chunks_);
}

}  // namespace

std::vector<Chunk> read_chunk_index(StructureReader& file, Address index, Index count, bool filtered,
                                    const std::string& where) {
  if (count > file.file_size() / static_cast<Index>(address_width)) {
    fail_damaged(where, "claims more elements than the file can hold");
  }
  return ExtensibleArray(file, filtered, static_cast<std::uint64_t>(count), where).read(index);
}

}  // namespace heddle::formats::hdf5
