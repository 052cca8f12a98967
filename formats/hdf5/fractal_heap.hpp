// Fractal heaps: objects of any size in blocks whose sizes double from row to row of a table. Heddle's files have them
// if a group has more than 64 parts, or if an object's attributes do not fit into its header.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/hdf5/messages.hpp"

namespace heddle::formats::hdf5 {

class FractalHeap {
 public:
  // Throws DataError if the heap is damaged or of a kind that heddle does not write.
  FractalHeap(StructureReader& file, Address address, const std::string& where);

  std::uint64_t id_width() const { return id_width_; }
  // The object with the id, of id_width() bytes; valid as long as the heap exists. Throws DataError if there is none.
  Bytes object(Bytes id);

 private:
  struct Block {
    std::uint64_t offset;  // offset of its first byte in the heap
    std::vector<std::byte> bytes;
  };
  struct HugeObject {
    Address address;
    std::uint64_t size;
  };

  void read_header(Cursor header);
  void check_proportions() const;
  std::uint64_t row_width(std::uint64_t row) const;  // bytes of each block of a row
  std::uint64_t row_begin(std::uint64_t row) const;  // bytes of the heap before a row
  std::uint64_t row_of(std::uint64_t offset) const;
  std::uint64_t rows_of_block(std::uint64_t width) const;

  Bytes managed_object(Cursor id);
  Bytes huge_object(Cursor id);
  const std::vector<std::byte>& block_bytes(Address address, std::uint64_t width, bool is_checked);
  const Block& find_block(std::uint64_t offset);
  const Block& open_block(Address address, std::uint64_t offset, std::uint64_t width);
  Address child_of(Address indirect, std::uint64_t begin, std::uint64_t rows, std::uint64_t row, std::uint64_t column);
  void read_huge_objects();

  StructureReader& file_;
  Address address_;
  const std::string where_;
  std::uint64_t id_width_ = 0, offset_width_ = 0, length_width_ = 0;
  std::uint64_t columns_ = 0, first_width_ = 0, largest_direct_ = 0, bits_ = 0, root_rows_ = 0;
  bool has_block_checksums_ = false;
  Address root_ = undefined_address, huge_index_ = undefined_address;
  std::map<std::uint64_t, Block> blocks_;               // direct ones, by the offset
  std::map<Address, std::vector<std::byte>> indirect_;  // keyed by address
  bool has_huge_objects_ = false;
  std::map<std::uint64_t, HugeObject> huge_objects_;        // keyed by number
  std::map<std::uint64_t, std::vector<std::byte>> loaded_;  // cached huge objects, by number
};

}  // namespace heddle::formats::hdf5
