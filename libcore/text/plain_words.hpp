// Words of plain text, for sentences as they are: punctuation apart, as in the files that taggers learn from.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::text {

// text[begin, end).
struct PlainWord {
  std::size_t begin, end;
};

// White space and U+200B separate words. A word is as many letters, numbers, marks and format characters as follow one
// another (Unicode's general categories L, N, M and Cf), with an apostrophe (' or U+2019) between two letters, and a
// point, comma or colon between two numbers; or as many times as it is repeated any one other character, with its
// marks. "Don't pay $1,000..." is Don't, pay, $, 1,000, …. Writing without white space, such as Chinese, is not cut.
// The text is any bytes.
std::vector<PlainWord> plain_words(std::string_view text);

}  // namespace heddle::text
