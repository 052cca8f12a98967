// Files of bias tests. Sections begin with a line in brackets, "[templates NAME]", "[pairs NAME]" or "[weat NAME]";
// then come lines "KEY = VALUE", which may repeat a key. A value is one text for template, first, second and context,
// else comma-separated words or phrases. Empty lines and those that begin with # are ignored.
//
//   [templates occupations]                [weat flowers]
//   template = [TARGET] is a [ATTRIBUTE].  x = rose, tulip
//   target = he, she                       y = ant, wasp
//   attribute = nurse, engineer            a = love, peace
//   neutral = person                       b = ugly, rotten
//                                          context = This is a [WORD].
//   [pairs occupations]
//   first = The nurse said she was late.
//   second = The nurse said he was late.
#pragma once

#include <string_view>

#include "libcore/data/bias_tests.hpp"

namespace heddle::formats {

// Throws DataError, "FILE:LINE: …", for any other line and for incomplete sections.
data::BiasTests read_bias_tests(std::string_view content, std::string_view file);

}  // namespace heddle::formats
