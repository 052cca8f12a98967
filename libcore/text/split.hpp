// Splits a text where a pattern matches. What becomes of the matches and of what is between them is as Hugging Face's
// Split has it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/visit.hpp"
#include "libcore/text/pattern.hpp"

namespace heddle::text {

enum class Matches {
  isolated,    // pieces of their own
  removed,     // dropped from the result
  contiguous,  // adjacent matches are one piece
  with_previous,
  with_next  // part of the piece before, or after
};

// Side on which a text may be cut so that its parts can be processed separately.
enum class Side {
  together,  // not there
  apart,     // nothing else changes
  cut        // every text is cut there anyway
};

class Split {
 public:
  // Inverted, the matches are what the expression does not match. Throws DataError.
  Split(const std::string& expression, Matches matches, bool inverted);

  // Calls take(begin, end) for the pieces in order. Throws NoToken where it would take far more time than in proportion
  // to the text.
  using Take = std::function<void(std::size_t, std::size_t)>;
  void for_each(std::string_view text, const Take& take) const;

  // Between a code point and the next one.
  Side side(char32_t left, char32_t right) const;

 private:
  Pattern pattern_;
  Matches matches_;
  bool inverted_;
};

}  // namespace heddle::text

template <>
struct heddle::Names<heddle::text::Matches> {
  static constexpr std::pair<text::Matches, std::string_view> list[] = {{text::Matches::isolated, "isolated"},
                                                                        {text::Matches::removed, "removed"},
                                                                        {text::Matches::contiguous, "contiguous"},
                                                                        {text::Matches::with_previous, "with-previous"},
                                                                        {text::Matches::with_next, "with-next"}};
};
