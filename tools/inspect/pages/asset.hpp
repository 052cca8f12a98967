// The files of this folder that pages are made of, which are part of the program.
#pragma once

#include <string_view>

namespace heddle {

// Of a file that tools/inspect/CMakeLists.txt lists.
std::string_view asset(std::string_view name);

}  // namespace heddle
