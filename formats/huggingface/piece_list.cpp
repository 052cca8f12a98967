#include "formats/huggingface/piece_list.hpp"

#include "formats/json/node.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

std::vector<std::string> read_piece_list(const std::string& path) {
  const JsonDocument file = read_json(path);
  const JsonNode document(file);
  if (!document.is_object() || document.size() == 0) document.refuse("is not a JSON object from pieces to ids");
  std::vector<std::string> pieces(document.size());
  for (const JsonNode& member : document.members()) {
    const Index id = member.number();
    if (id >= static_cast<Index>(pieces.size())) {
      member.refuse(concatenate("the id ", id, " is outside the ", pieces.size(), " pieces"));
    }
    std::string& place = pieces[static_cast<std::size_t>(id)];
    if (member.key().empty()) member.refuse("is not a piece");
    if (!place.empty()) member.refuse(concatenate("has the id of ", text::quoted(place)));
    place = member.key();
  }
  return pieces;
}

}  // namespace heddle::formats
