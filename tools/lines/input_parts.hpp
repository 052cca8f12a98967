// Input in parts, so that answers need not wait for its end, nor memory hold all of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/cli/streams.hpp"

namespace heddle {

// What parts have whole: lines, lines up to an empty one, or all of the input.
enum class InputUnit { line, paragraph, document };

struct InputPart {
  std::string text;
  Index first_line = 1;  // in the input, from 1
};

// A part for each of its lines.
std::vector<InputPart> lines_of(const InputPart& part);

class PartReader {
 public:
  // Parts have about `bytes`, or one unit where that is longer. Lines count for some bytes more than they have, because
  // empty ones are work too.
  PartReader(cli::Input& input, InputUnit unit, Index bytes) : lines_(input), unit_(unit), bytes_(bytes) {}

  // The next whole units: as many as a part may have, or as are there when more would have to be waited for. Nothing at
  // the end. Together the parts are the input.
  std::optional<InputPart> next();

 private:
  bool ends_unit(std::string_view line) const;

  cli::LineReader lines_;
  InputUnit unit_;
  Index bytes_;
  std::string rest_;  // lines of a unit that has no end yet
  Index next_line_ = 1;
};

}  // namespace heddle
