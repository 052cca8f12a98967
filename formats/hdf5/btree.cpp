#include "formats/hdf5/btree.hpp"

#include <bit>

#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr std::uint64_t prefix_width = 6;  // prefix of a node
constexpr unsigned most_levels = 16;

// Bytes needed for a number up to this one.
std::uint64_t width_of_number(std::uint64_t largest) {
  return (static_cast<std::uint64_t>(std::bit_width(largest)) + 7) / 8;
}

// Nodes at one distance from the leaves.
struct Level {
  std::uint64_t most_records;  // in a node
  std::uint64_t most_below;    // in a node and its descendants
  std::uint64_t pointer_width;
};

struct Node {
  Address address;
  std::uint64_t records;
};

class Tree {
 public:
  Tree(StructureReader& file, RecordType type, std::uint64_t record_width, const std::string& where,
       const std::function<void(Bytes)>& visit)
      : file_(file), type_(type), record_width_(record_width), where_(where), visit_(visit) {}

  void visit_all(Address header);

 private:
  void set_levels(std::uint64_t node_width, unsigned depth);
  void visit(Node node, std::size_t level);
  Cursor open(const std::vector<std::byte>& bytes, const char* signature) const;

  StructureReader& file_;
  RecordType type_;
  std::uint64_t record_width_;
  const std::string& where_;
  const std::function<void(Bytes)>& visit_;
  std::vector<Level> levels_;  // the leaves first
};

Cursor Tree::open(const std::vector<std::byte>& bytes, const char* signature) const {
  Cursor cursor(bytes, where_);
  cursor.expect(signature);
  cursor.expect_version(0, "an index of version");
  if (cursor.byte() != static_cast<unsigned>(type_)) fail_damaged(where_, "has an index of the wrong type");
  return cursor;
}

void Tree::set_levels(std::uint64_t node_width, unsigned depth) {
  const std::uint64_t around = prefix_width + checksum_width;
  const std::uint64_t in_leaf = node_width < around ? 0 : (node_width - around) / record_width_;
  if (in_leaf == 0 || depth > most_levels) fail_damaged(where_, "has an index of impossible proportions");
  levels_ = {{in_leaf, in_leaf, 0}};
  for (unsigned i = 0; i < depth; ++i) {
    const Level& below = levels_.back();
    const std::uint64_t pointer_width =
        address_width + width_of_number(in_leaf) + (i == 0 ? 0 : width_of_number(below.most_below));
    if (node_width < around + pointer_width) fail_damaged(where_, "has an index of impossible proportions");
    const std::uint64_t records = (node_width - around - pointer_width) / (record_width_ + pointer_width);
    std::uint64_t most_below = 0;
    if (__builtin_mul_overflow(records + 1, below.most_below, &most_below) ||
        __builtin_add_overflow(most_below, records, &most_below)) {
      fail_damaged(where_, "has an index of impossible proportions");
    }
    levels_.push_back({records, most_below, pointer_width});
  }
}

void Tree::visit_all(Address header) {
  constexpr std::uint64_t header_width = 38;
  const std::vector<std::byte> bytes = file_.read_checked(header, header_width, where_);
  Cursor cursor = open(bytes, "BTHD");
  const std::uint64_t node_width = cursor.number(4);
  if (cursor.number(2) != record_width_) fail_foreign(where_, "an index with records of another width");
  const auto depth = static_cast<unsigned>(cursor.number(2));
  cursor.take(2);  // when nodes are split and merged
  const Address root = cursor.address();
  const std::uint64_t records = cursor.number(2);
  set_levels(node_width, depth);
  if (records > 0 || depth > 0) visit({root, records}, depth);
}

void Tree::visit(Node node, std::size_t number) {
  const Level& level = levels_[number];
  if (node.records > level.most_records) fail_damaged(where_, "has an index with too many records in a node");
  const std::uint64_t pointers = number == 0 ? 0 : (node.records + 1) * level.pointer_width;
  const std::vector<std::byte> bytes =
      file_.read_checked(node.address, prefix_width + node.records * record_width_ + pointers + checksum_width, where_);
  Cursor cursor = open(bytes, number == 0 ? "BTLF" : "BTIN");
  Cursor records(cursor.take(node.records * record_width_), where_);
  const std::uint64_t width_of_count = width_of_number(levels_[0].most_records);
  for (std::uint64_t i = 0; i <= node.records; ++i) {
    if (number > 0) {
      Cursor pointer(cursor.take(level.pointer_width), where_);
      const Address child = pointer.address();
      visit({child, pointer.number(width_of_count)}, number - 1);
    }
    if (i < node.records) visit_(records.take(record_width_));
  }
}

}  // namespace

void visit_records(StructureReader& file, Address tree, RecordType type, std::uint64_t record_width,
                   const std::string& where, const std::function<void(Bytes record)>& visit) {
  Tree(file, type, record_width, where, visit).visit_all(tree);
}

}  // namespace heddle::formats::hdf5
