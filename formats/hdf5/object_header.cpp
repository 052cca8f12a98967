#include "formats/hdf5/object_header.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

// Bits of the header's flags.
constexpr unsigned width_of_size = 3, tracks_order = 4, has_phase_change = 16, has_times = 32;
// Bits of a message's flags.
constexpr unsigned is_shared = 2, fails_if_unknown = 8 | 128;

bool is_known(unsigned type) {
  using enum MessageType;
  constexpr MessageType known[] = {
      nothing, shape,     group,   datatype, old_fill_value, fill_value, link, other_files, layout,         group_hints,
      filters, attribute, comment, old_time, continuation,   old_group,  time, attributes,  links_to_object};
  return std::ranges::any_of(known, [&](MessageType one) { return static_cast<unsigned>(one) == type; });
}

struct Place {
  Address address;
  std::uint64_t size;
};

Place continuation_of(const Message& message, const std::string& where) {
  Cursor cursor(message.content, where);
  const Address address = cursor.address();
  return {address, cursor.number(8)};
}

// Adds the messages of a block without signature and checksum, which may end in a gap too small for a message.
void add_messages(ObjectHeader& header, Cursor cursor, unsigned flags) {
  const std::string& where = cursor.where();
  const std::size_t prefix = flags & tracks_order ? 6 : 4;
  while (cursor.left() >= prefix) {
    const unsigned type = cursor.byte();
    const std::uint64_t size = cursor.number(2);
    const unsigned message_flags = cursor.byte();
    if (flags & tracks_order) cursor.take(2);
    const auto content = cursor.take(size);
    if (!is_known(type)) {
      if (message_flags & fails_if_unknown) fail_foreign(where, concatenate("a message of type ", type));
      continue;
    }
    if (message_flags & is_shared) fail_foreign(where, "a message that objects share");
    header.messages.push_back({static_cast<MessageType>(type), content});
  }
}

// The first block: its prefix says how long it is.
unsigned read_first_block(ObjectHeader& header, StructureReader& file, Address address, const std::string& where) {
  constexpr std::uint64_t longest_prefix = 34, shortest_header = 6;
  if (!file.lies_within(address, shortest_header)) fail_damaged(where, "lies beyond the end of the file");
  const std::uint64_t left = static_cast<std::uint64_t>(file.file_size()) - address;
  const std::vector<std::byte> start = file.read(address, std::min(longest_prefix, left), where);
  if (start[0] == std::byte{1}) fail_foreign(where, "an object header of version 1");
  Cursor cursor(start, where);
  cursor.expect("OHDR");
  cursor.expect_version(2, "an object header of version");
  const unsigned flags = cursor.byte();
  if (flags & has_times) cursor.take(16);
  if (flags & has_phase_change) cursor.take(4);
  const std::uint64_t size = cursor.number(std::uint64_t{1} << (flags & width_of_size));
  const std::uint64_t prefix = start.size() - cursor.left();
  if (!file.lies_within(address, size)) fail_damaged(where, "is longer than the file");
  header.blocks.push_back(file.read_checked(address, prefix + size + checksum_width, where));
  add_messages(header, Cursor(std::span(header.blocks.back()).subspan(prefix, size), where), flags);
  return flags;
}

void read_continuation(ObjectHeader& header, StructureReader& file, Place place, unsigned flags,
                       const std::string& where) {
  constexpr std::uint64_t signature_width = 4;
  if (place.size < signature_width + checksum_width) fail_damaged(where, "a structure ends too early");
  header.blocks.push_back(file.read_checked(place.address, place.size, where));
  const std::span<const std::byte> block = header.blocks.back();
  Cursor(block, where).expect("OCHK");
  add_messages(header, Cursor(block.subspan(signature_width, place.size - signature_width - checksum_width), where),
               flags);
}

}  // namespace

std::span<const std::byte> ObjectHeader::find(MessageType type, const std::string& where) const {
  std::span<const std::byte> found;
  for (const Message& message : messages) {
    if (message.type != type) continue;
    if (found.data() != nullptr) fail_damaged(where, "says something twice");
    found = message.content;
  }
  return found;
}

ObjectHeader read_object_header(StructureReader& file, Address address, const std::string& where) {
  ObjectHeader header;
  const unsigned flags = read_first_block(header, file, address, where);
  for (std::size_t i = 0; i < header.messages.size(); ++i) {
    const Message message = header.messages[i];  // reading adds messages
    if (message.type == MessageType::continuation) {
      read_continuation(header, file, continuation_of(message, where), flags, where);
    }
  }
  return header;
}

}  // namespace heddle::formats::hdf5
