// GPT-2's pre-tokenisation: text is split into the matches, from left to right, of
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// over the characters of unicode.hpp, so every byte belongs to exactly one pre-token.
// Source: Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.2 and its released
// code.
#pragma once

#include <cstddef>
#include <string_view>

namespace heddle::text {

// Where the pre-token that starts at start < text.size() ends. Nothing before start matters.
std::size_t pretoken_end(std::string_view text, std::size_t start);

// True where every text that has these bytes around the position, 0 < position < text.size(), is cut at the position;
// both parts may then be pre-tokenised apart. Looks at four bytes to either side. Not all cuts are found: white space
// behaves otherwise at the end of a text, and whether an apostrophe begins a contraction depends on what is further
// left.
bool is_pretoken_boundary(std::string_view text, std::size_t position);

}  // namespace heddle::text
