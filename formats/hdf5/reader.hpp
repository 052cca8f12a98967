// Heddle's own reader of HDF5: superblock, object headers, groups, attributes and data sets as heddle writes them
// (writer.hpp), and nothing else. It is safe for untrusted files: every address, size and count is checked against the
// file before it is used; an object has one place in the file, so that groups cannot contain themselves; and work and
// memory are at most proportional to the file's size.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "formats/hdf5/chunk_index.hpp"
#include "formats/hdf5/messages.hpp"
#include "formats/hdf5/object_header.hpp"
#include "formats/hdf5/source.hpp"

namespace heddle::formats::hdf5 {

class Reader : public std::enable_shared_from_this<Reader> {
 public:
  // The root group. Groups and data sets keep the reader alive, and it keeps the file open. The name is for messages.
  // Throws DataError if the file is damaged or not as heddle writes files.
  static std::shared_ptr<const GroupSource> open(std::shared_ptr<const Descriptor> file, const std::string& name);

  // The group or data set at that address, by the path it was found under.
  PartSource open(Address address, const std::string& path);
  std::vector<Chunk> read_chunks(Address index, Index count, bool filtered, const std::string& where);
  void read_elements(Address address, std::span<std::byte> bytes, const std::string& where) const {
    file_.read_elements(address, bytes, where);
  }

 private:
  using Node = std::variant<std::unique_ptr<const GroupSource>, std::unique_ptr<const DatasetSource>>;

  Reader(std::shared_ptr<const Descriptor> file, const std::string& name);
  Address read_superblock();
  Node read_node(Address address, const std::string& path);
  Node read_dataset(const ObjectHeader& header, const std::string& path, std::vector<Attribute> attributes);
  Node read_group(const ObjectHeader& header, const std::string& path, std::vector<Attribute> attributes);
  std::vector<Attribute> read_attributes(const ObjectHeader& header, const std::string& where);
  std::vector<Link> read_links(const ObjectHeader& header, const DensePlace& many, const std::string& where);
  void count_elements(const DatasetLayout& layout, const StoragePlace& place, const std::string& where);

  StructureReader file_;
  std::shared_ptr<const FileName> name_;
  std::mutex mutex_;  // guards file_ and nodes_
  std::unordered_map<Address, Node> nodes_;
};

}  // namespace heddle::formats::hdf5
