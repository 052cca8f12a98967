// Files of bias tests. Sections begin with a line in brackets, "[templates NAME]", "[pairs NAME]" or "[weat NAME]";
// then come lines "KEY = VALUE", which may repeat a key. A value is one text for template, first, second and context,
// else words or phrases apart by commas. Empty lines and those that begin with # mean nothing.
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

#include "heddle/data/bias_tests.hpp"

namespace heddle::formats {

// Throws DataError, "FILE:LINE: …", for lines that are none of these and for sections that lack something.
data::BiasTests read_bias_tests(std::string_view content, std::string_view file);

}  // namespace heddle::formats
