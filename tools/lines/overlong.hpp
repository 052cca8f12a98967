// What tools that read texts one by one do with those longer than the context.
#pragma once

#include "heddle/base/visit.hpp"

namespace heddle {

enum class Overlong { error, truncate };
template <>
struct Names<Overlong> {
  static constexpr std::pair<Overlong, std::string_view> list[] = {{Overlong::error, "error"},
                                                                   {Overlong::truncate, "truncate"}};
};

}  // namespace heddle
