// Lines that are worked on together.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/streams.hpp"

namespace heddle {

// Calls make(text, "FILE:LINE") for each line, and write(items) for what it makes of every `size` lines and of the
// rest. When make throws DataError, the lines before are not lost.
template <class Make, class Write>
void for_each_line_batch(const std::string& file, Index size, const Make& make, const Write& write) {
  cli::Input input(file);
  cli::LineReader lines(input);
  std::vector<decltype(make(std::string(), std::string()))> batch;
  const auto finish = [&] {
    if (!batch.empty()) write(batch);
    batch.clear();
  };
  while (const auto line = lines.next()) {
    try {
      batch.push_back(make(std::string(line->text), lines.where()));
    } catch (const DataError&) {
      finish();
      throw;
    }
    if (static_cast<Index>(batch.size()) == size) finish();
  }
  finish();
}

}  // namespace heddle
