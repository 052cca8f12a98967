// Option values for the treatment of text that looks like a special token.
#pragma once

#include "libcore/base/visit.hpp"
#include "libcore/text/tokenizer.hpp"

template <>
struct heddle::Names<heddle::text::SpecialText> {
  static constexpr std::pair<text::SpecialText, std::string_view> list[] = {{text::SpecialText::token, "token"},
                                                                            {text::SpecialText::plain, "plain"}};
};
