#include "libcore/text/charsmap.hpp"

#include <algorithm>
#include <cstring>

#include "libcore/base/error.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr std::size_t no_node = static_cast<std::size_t>(-1);
constexpr std::uint32_t is_value = 1u << 31;
// Bytes of a key or a replacement. Those of Unicode have at most 33.
constexpr std::size_t most_map_bytes = 256;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// The parts of a unit of the trie.
std::uint32_t offset_of(std::uint32_t unit) {
  return unit >> 10 << ((unit & 0x200) >> 6);
}
bool has_value(std::uint32_t unit) {
  return (unit & 0x100) != 0;
}
std::uint32_t label_of(std::uint32_t unit) {
  return unit & (is_value | 0xFF);
}

}  // namespace

Charsmap::Charsmap(std::string_view map) {
  constexpr const char* damaged = "the tokenizer's charsmap is damaged";
  check<DataError>(map.size() >= 8, damaged);
  const std::size_t bytes = number_at(map, 0);
  check<DataError>(bytes >= 4 && bytes % 4 == 0 && bytes <= map.size() - 4, damaged);
  for (std::size_t at = 4; at < 4 + bytes; at += 4) units_.push_back(number_at(map, at));
  replacements_ = map.substr(4 + bytes);
  check<DataError>(!replacements_.empty() && replacements_.back() == '\0', damaged);
  check_replacements();
  check_keys();
}

std::size_t Charsmap::child(std::size_t node, unsigned char label) const {
  const std::size_t next = node ^ offset_of(units_[node]) ^ label;
  return next < units_.size() && label_of(units_[next]) == label ? next : no_node;
}

void Charsmap::check_replacements() const {
  for (std::size_t begin = 0; begin < replacements_.size();) {
    const std::size_t end = replacements_.find('\0', begin);
    check<DataError>(end - begin <= most_map_bytes, "the tokenizer's charsmap has a replacement of ", end - begin,
                     " bytes; at most ", most_map_bytes, " are supported");
    begin = end + 1;
  }
}

// Goes through the nodes that the root leads to, which may share others; the other units have labels too.
void Charsmap::check_keys() const {
  constexpr std::uint32_t none = 0xFFFFFFFF;
  constexpr std::size_t open = static_cast<std::size_t>(-1);
  const std::size_t places = units_.size() + 256;
  // Nodes by the place that their parent's children are counted from, as lists.
  std::vector<std::uint32_t> first(places, none), next(units_.size(), none);
  for (std::uint32_t node = 1; node < units_.size(); ++node) {
    const std::uint32_t label = label_of(units_[node]);
    if (label == 0 || label > 255) continue;
    next[node] = first[node ^ label];
    first[node ^ label] = node;
  }
  const auto first_child = [&](std::uint32_t node) {
    const std::size_t place = node ^ offset_of(units_[node]);
    return place < places ? first[place] : none;
  };
  struct Visit {
    std::uint32_t node, child;
    std::size_t height;  // bytes of the longest key below it so far
  };
  std::vector<std::size_t> heights(units_.size());  // 0: not seen; open: on the path from the root
  std::vector<Visit> path{{0, first_child(0), 1}};
  while (!path.empty()) {
    const std::uint32_t parent = path.back().node, node = path.back().child;
    if (node == none) {
      heights[parent] = path.back().height;
      path.pop_back();
      if (!path.empty()) path.back().height = std::max(path.back().height, heights[parent] + 1);
      continue;
    }
    path.back().child = next[node];
    const bool is_blank = is_ascii_blank(static_cast<char>(label_of(units_[node])));
    check<DataError>(!is_blank || (parent == 0 && first_child(node) == none),
                     "the tokenizer's charsmap replaces spaces together with other characters");
    check<DataError>(heights[node] != open && path.size() + heights[node] <= most_map_bytes,
                     "the tokenizer's charsmap has keys of more than ", most_map_bytes, " bytes");
    if (heights[node] != 0) {
      path.back().height = std::max(path.back().height, heights[node] + 1);
      continue;
    }
    heights[node] = open;
    path.push_back({node, first_child(node), 1});
  }
}

void Charsmap::apply(std::string_view text, std::string& normalised, std::vector<Origin>* origins) const {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0, replacement = 0;
    std::size_t node = 0;
    for (std::size_t end = at; end < text.size(); ++end) {
      const auto label = static_cast<unsigned char>(text[end]);
      node = label == 0 ? no_node : child(node, label);
      if (node == no_node) break;
      if (!has_value(units_[node])) continue;
      const std::size_t leaf = node ^ offset_of(units_[node]);
      if (leaf >= units_.size()) break;
      length = end + 1 - at;
      replacement = units_[leaf] & ~is_value;
    }
    if (length == 0 || replacement >= replacements_.size()) {
      length = decode(text, at).length;
      normalised += text.substr(at, length);
    } else {
      normalised += replacements_.c_str() + replacement;
    }
    if (origins != nullptr) origins->resize(normalised.size(), {at, at + length});
    at += length;
  }
}

}  // namespace heddle::text
