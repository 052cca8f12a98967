// Lines that are worked on together.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "heddle/base/strings.hpp"
#include "heddle/cli/streams.hpp"

namespace heddle {

// Calls make(text, "FILE:LINE") for each line, and write(items) for what it makes of every `size` lines, or of fewer
// where the next would have to be waited for. When make throws DataError, the lines before are not lost.
template <class Make, class Write>
void for_each_line_batch(cli::Input input, Index size, const Make& make, const Write& write) {
  cli::LineReader lines(input);
  // Long enough for a program that writes without a pause, too short for people to notice.
  constexpr std::chrono::milliseconds patience{2};
  std::vector<decltype(make(std::string(), std::string()))> batch;
  const auto finish = [&] {
    if (!batch.empty()) write(batch);
    batch.clear();
  };
  while (const auto line = lines.next()) {
    try {
      const bool is_first = lines.number() == 1;
      batch.push_back(make(std::string(is_first ? without_byte_order_mark(line->text) : line->text), lines.where()));
    } catch (const DataError&) {
      finish();
      throw;
    }
    if (static_cast<Index>(batch.size()) == size || lines.is_idle(patience)) finish();
  }
  finish();
}

}  // namespace heddle
