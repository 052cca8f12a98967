// Origin of normalised text.
#pragma once

#include <cstddef>

namespace heddle::text {

// The part text[begin, end) of a text that a byte of the normalised text stands for: usually a character. Empty for
// what normalisation adds.
struct Origin {
  std::size_t begin, end;
};

}  // namespace heddle::text
