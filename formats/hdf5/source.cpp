#include "formats/hdf5/source.hpp"

#include <algorithm>
#include <cctype>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats::hdf5 {

ObjectSource::ObjectSource(std::shared_ptr<const FileName> file, std::string path, std::vector<Attribute> attributes)
    : file_(std::move(file)), path_(std::move(path)), attributes_(std::move(attributes)) {
  std::ranges::sort(attributes_, {}, &Attribute::name);
  const bool is_printable = std::ranges::all_of(attributes_, is_name, &Attribute::name);
  const bool is_unique = std::ranges::adjacent_find(attributes_, {}, &Attribute::name) == attributes_.end();
  check<DataError>(is_printable && is_unique, where(),
                   ": has attributes of one name, or of an unprintable one. The file is damaged or not heddle's");
}

const Attribute* ObjectSource::find_attribute(std::string_view name) const {
  const auto found = std::ranges::lower_bound(attributes_, name, {}, &Attribute::name);
  return found != attributes_.end() && found->name == name ? &*found : nullptr;
}

bool is_text(std::string_view text) {
  return is_utf8(text) && text.find('\0') == std::string_view::npos;
}

bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name.find('/') == std::string_view::npos && is_text(name) &&
         std::ranges::none_of(name, [](char letter) { return std::iscntrl(static_cast<unsigned char>(letter)) != 0; });
}

std::string path_of(const std::string& group, std::string_view name) {
  return (group == "/" ? group : group + "/") + std::string(name);
}

}  // namespace heddle::formats::hdf5
