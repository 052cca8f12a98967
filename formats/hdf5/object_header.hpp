// The header of a group or a data set: a list of messages, in a chain of blocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/hdf5/structure.hpp"

namespace heddle::formats::hdf5 {

enum class MessageType : unsigned {
  nothing = 0,
  shape = 1,
  group = 2,  // where links are, or "link info"
  datatype = 3,
  old_fill_value = 4,
  fill_value = 5,
  link = 6,
  other_files = 7,
  layout = 8,
  group_hints = 10,
  filters = 11,
  attribute = 12,
  comment = 13,
  old_time = 14,
  continuation = 16,
  old_group = 17,
  time = 18,
  attributes = 21,  // where attributes are, or "attribute info"
  links_to_object = 22,
};

struct Message {
  MessageType type;
  std::span<const std::byte> content;
};

struct ObjectHeader {
  std::vector<std::vector<std::byte>> blocks;  // blocks that contain the messages
  std::vector<Message> messages;

  // The content of the only message of that type; null data if there is none. Throws DataError if there are two.
  std::span<const std::byte> find(MessageType type, const std::string& where) const;
};

// Throws DataError if it is damaged or has messages that heddle does not write.
ObjectHeader read_object_header(StructureReader& file, Address address, const std::string& where);

}  // namespace heddle::formats::hdf5
