// What pages are made of: files that heddle_page_parts() of CMake makes a part of the program.
#pragma once

#include <string_view>

namespace heddle {

// The texts of the files .css, and of those .js, in the order of CMake's list.
struct PageParts {
  std::string_view style, script;
};

// What all pages begin with.
PageParts common_parts();

}  // namespace heddle
