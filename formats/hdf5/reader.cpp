#include "formats/hdf5/reader.hpp"

#include <algorithm>
#include <numeric>

#include "formats/hdf5/btree.hpp"
#include "formats/hdf5/fractal_heap.hpp"
#include "formats/hdf5/stored_dataset.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

// A group whose links are known; parts are read when they are asked for.
class StoredGroup : public GroupSource {
 public:
  StoredGroup(Reader& reader, std::vector<Link> links, std::shared_ptr<const FileName> file, std::string path,
              std::vector<Attribute> attributes)
      : GroupSource(std::move(file), std::move(path), std::move(attributes)),
        reader_(reader),
        links_(std::move(links)),
        by_name_(links_.size()) {
    std::iota(by_name_.begin(), by_name_.end(), std::uint32_t{0});
    std::ranges::sort(by_name_, {}, [this](std::uint32_t i) { return std::string_view(links_[i].name); });
    const auto twice = std::ranges::adjacent_find(
        by_name_, {}, [this](std::uint32_t i) -> const std::string& { return links_[i].name; });
    if (twice != by_name_.end()) fail_damaged(where(), "has two parts called " + links_[*twice].name);
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    names.reserve(links_.size());
    for (const Link& link : links_) names.push_back(link.name);
    return names;
  }
  bool has(const std::string& name) const override {
    const Link* const link = find(name);
    check<DataError>(link == nullptr || link->is_hard, where(), ": ", name,
                     " is a link, which heddle does not support");
    return link != nullptr;
  }
  PartSource part(const std::string& name) const override {
    return reader_.open(find(name)->address, path_of(path(), name));
  }

 private:
  const Link* find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(by_name_, name, {},
                                                [this](std::uint32_t i) { return std::string_view(links_[i].name); });
    return found != by_name_.end() && links_[*found].name == name ? &links_[*found] : nullptr;
  }

  Reader& reader_;
  std::vector<Link> links_;  // in the order of creation
  std::vector<std::uint32_t> by_name_;
};

// A handle that keeps the reader alive, which owns the node.
template <class T>
std::shared_ptr<const T> shared(const std::shared_ptr<Reader>& reader, const std::unique_ptr<const T>& node) {
  return {reader, node.get()};
}

}  // namespace

Reader::Reader(std::shared_ptr<const Descriptor> file, const std::string& name)
    : file_(std::move(file)), name_(std::make_shared<const FileName>(FileName{name, file_.file_size()})) {}

std::shared_ptr<const GroupSource> Reader::open(std::shared_ptr<const Descriptor> file, const std::string& name) {
  const std::shared_ptr<Reader> reader(new Reader(std::move(file), name));
  PartSource root = reader->open(reader->read_superblock(), "/");
  check<DataError>(std::holds_alternative<std::shared_ptr<const GroupSource>>(root), name,
                   ": has no root group. The file is damaged or not heddle's");
  return std::get<std::shared_ptr<const GroupSource>>(std::move(root));
}

// The address of the root group.
Address Reader::read_superblock() {
  using namespace std::string_view_literals;
  constexpr std::uint64_t width = 48, prefix = 9;
  constexpr unsigned oldest_version = 2, newest_version = 3;
  const std::string& name = name_->path;
  const std::vector<std::byte> start = file_.read(0, prefix, name);
  Cursor version_cursor(start, name);
  version_cursor.expect("\x89HDF\r\n\x1a\n"sv);
  const unsigned version = version_cursor.byte();
  if (version < oldest_version || version > newest_version) {
    fail_foreign(name, concatenate("a superblock of version ", version));
  }
  const std::vector<std::byte> whole = file_.read_checked(0, width, name);
  Cursor cursor(whole, name);
  cursor.take(prefix);
  if (cursor.number(2) != 0x0808) fail_foreign(name, "addresses or lengths of another width than 8 bytes");
  if (cursor.byte() != 0) fail_damaged(name, "was not closed by the program that wrote it");
  if (cursor.address() != 0) fail_foreign(name, "a base address");
  if (cursor.address() != undefined_address) fail_foreign(name, "an extension of the superblock");
  const Address end = cursor.address();
  check<DataError>(file_.lies_within(end, 0), name, ": is truncated: it had ", end, " bytes and has ",
                   file_.file_size());
  return cursor.address();
}

PartSource Reader::open(Address address, const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto found = nodes_.find(address);
  if (found == nodes_.end()) {
    file_.count_path(path.size(), name_->path);
    found = nodes_.emplace(address, read_node(address, path)).first;
  }
  return std::visit(
      [&](const auto& node) -> PartSource {
        check<DataError>(node->path() == path, name_->path, ": ", path, " is ", node->path(),
                         " under another name. The file is damaged or not heddle's");
        return shared(shared_from_this(), node);
      },
      found->second);
}

Reader::Node Reader::read_node(Address address, const std::string& path) {
  const std::string where = name_->path + ": " + path;
  const ObjectHeader header = read_object_header(file_, address, where);
  const auto has = [&](MessageType type) { return header.find(type, where).data() != nullptr; };
  if (has(MessageType::old_group)) fail_foreign(where, "a group of HDF5 1.6");
  const bool is_dataset = has(MessageType::layout), is_group = has(MessageType::group);
  check<DataError>(is_dataset != is_group, where, ": is neither a group nor a data set");
  std::vector<Attribute> attributes = read_attributes(header, where);
  return is_dataset ? read_dataset(header, path, std::move(attributes))
                    : read_group(header, path, std::move(attributes));
}

Reader::Node Reader::read_group(const ObjectHeader& header, const std::string& path,
                                std::vector<Attribute> attributes) {
  const std::string where = name_->path + ": " + path;
  const DensePlace many = read_group_place(header.find(MessageType::group, where), where);
  std::vector<Link> links = read_links(header, many, where);
  if (many.is_ordered) {
    std::ranges::stable_sort(links, {}, &Link::order);
  } else {
    std::ranges::sort(links, {}, &Link::name);
  }
  return std::make_unique<const StoredGroup>(*this, std::move(links), name_, path, std::move(attributes));
}

std::vector<Link> Reader::read_links(const ObjectHeader& header, const DensePlace& many, const std::string& where) {
  constexpr std::uint64_t hash_width = 4, id_width = 7;
  std::vector<Link> links;
  for (const Message& message : header.messages) {
    if (message.type == MessageType::link) links.push_back(read_link(message.content, where));
  }
  if (!many.exists()) return links;
  FractalHeap heap(file_, many.heap, where);
  if (heap.id_width() != id_width) fail_foreign(where, "a heap with ids of another width");
  visit_records(file_, many.index, RecordType::link_by_name, hash_width + id_width, where,
                [&](Bytes record) { links.push_back(read_link(heap.object(record.subspan(hash_width)), where)); });
  return links;
}

std::vector<Attribute> Reader::read_attributes(const ObjectHeader& header, const std::string& where) {
  constexpr std::uint64_t id_width = 8, rest_width = 9;
  constexpr std::byte shared_attribute{2};
  std::vector<Attribute> attributes;
  for (const Message& message : header.messages) {
    if (message.type == MessageType::attribute) attributes.push_back(read_attribute(message.content, where));
  }
  const Bytes message = header.find(MessageType::attributes, where);
  const DensePlace many = message.data() == nullptr ? DensePlace() : read_attributes_place(message, where);
  if (!many.exists()) return attributes;
  FractalHeap heap(file_, many.heap, where);
  if (heap.id_width() != id_width) fail_foreign(where, "a heap with ids of another width");
  visit_records(file_, many.index, RecordType::attribute_by_name, id_width + rest_width, where, [&](Bytes record) {
    if ((record[id_width] & shared_attribute) != std::byte{0}) fail_foreign(where, "an attribute that objects share");
    attributes.push_back(read_attribute(heap.object(record.first(id_width)), where));
  });
  return attributes;
}

namespace {

DatasetDescription describe(const ObjectHeader& header, const std::string& where) {
  const Datatype element = read_datatype(header.find(MessageType::datatype, where), where);
  using Kind = Datatype::Kind;
  check<DataError>(element.kind == Kind::number || element.kind == Kind::text, where,
                   ": elements of a type that heddle does not support");
  check<DataError>(header.find(MessageType::other_files, where).data() == nullptr, where, ": refers to another file");
  DatasetDescription dataset;
  dataset.layout.dtype = element.dtype;
  dataset.layout.extents = read_extents(header.find(MessageType::shape, where), where);
  if (element.kind == Kind::text) dataset.layout.text_width = element.width;
  dataset.place = read_storage(header.find(MessageType::layout, where), element, where);
  if (const Bytes filters = header.find(MessageType::filters, where); filters.data() != nullptr) {
    dataset.filters = read_filters(filters, where);
  }
  dataset.layout.chunk = dataset.place.chunk;
  dataset.layout.compress = dataset.filters.any();
  return dataset;
}

// Chunks have all columns, of which there is one at least.
void check_chunks(const DatasetLayout& layout, const StoragePlace& place, const std::string& where) {
  const std::vector<Index>& extents = layout.extents;
  const bool are_whole = place.chunk_columns == 0
                             ? extents.size() == 1
                             : extents.size() == 2 && extents[1] > 0 && place.chunk_columns == extents[1];
  check<DataError>(are_whole, where, ": chunks of an unexpected shape");
  DatasetLayout one_chunk = layout;
  one_chunk.extents[0] = layout.chunk;
  const Index bytes = bytes_of(one_chunk, where);
  check<DataError>(bytes <= largest_chunk, where, ": chunks of ", bytes, " bytes are too large");
}

}  // namespace

Reader::Node Reader::read_dataset(const ObjectHeader& header, const std::string& path,
                                  std::vector<Attribute> attributes) {
  const std::string where = name_->path + ": " + path;
  DatasetDescription dataset = describe(header, where);
  if (dataset.place.chunk > 0) check_chunks(dataset.layout, dataset.place, where);
  count_elements(dataset.layout, dataset.place, where);
  if (dataset.place.chunk > 0) {
    return std::make_unique<const ChunkedDataset>(*this, std::move(dataset), name_, path, std::move(attributes));
  }
  check<DataError>(!dataset.filters.any(), where, ": stored with a filter that heddle does not use");
  return std::make_unique<const ContiguousDataset>(*this, std::move(dataset), name_, path, std::move(attributes));
}

// Elements of different data sets do not overlap, so that together they are no larger than the file.
void Reader::count_elements(const DatasetLayout& layout, const StoragePlace& place, const std::string& where) {
  const Index bytes = bytes_of(layout, where);
  const bool fits = place.chunk > 0 || bytes == 0 ||
                    (place.size >= bytes && file_.lies_within(place.address, static_cast<std::uint64_t>(bytes)));
  check<DataError>(fits, where, ": claims more elements than the file can hold");
  file_.count_elements(static_cast<std::uint64_t>(layout.compress ? bytes / best_compression : bytes), where);
}

std::vector<Chunk> Reader::read_chunks(Address index, Index count, bool filtered, const std::string& where) {
  const std::lock_guard lock(mutex_);
  return read_chunk_index(file_, index, count, filtered, where);
}

}  // namespace heddle::formats::hdf5
