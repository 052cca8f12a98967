#include "heddle/formats/labelled_line.hpp"

#include <algorithm>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/text/spelling.hpp"

namespace heddle::formats {

void check_label(std::string_view label, const Place& place) {
  const auto is_control = [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte < 0x20 || byte == 0x7F;
  };
  check<DataError>(!label.empty(), place, ": the label is empty");
  check<DataError>(is_utf8(label) && std::ranges::none_of(label, is_control), place, ": the label ",
                   text::quoted(label), " is not UTF-8 text without control characters");
}

}  // namespace heddle::formats
