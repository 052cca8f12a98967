#include "tools/lines/input_parts.hpp"

#include <algorithm>
#include <utility>

namespace heddle {

namespace {

constexpr Index bytes_per_line = 16;
// Long enough for a program that writes without a pause, too short for people to notice.
constexpr std::chrono::milliseconds patience{2};

}  // namespace

std::vector<InputPart> lines_of(const InputPart& part) {
  std::vector<InputPart> lines;
  for (std::size_t begin = 0; begin < part.text.size();) {
    const std::size_t end = std::min(part.text.find('\n', begin), part.text.size() - 1) + 1;
    lines.push_back({part.text.substr(begin, end - begin), part.first_line + static_cast<Index>(lines.size())});
    begin = end;
  }
  return lines;
}

bool PartReader::ends_unit(std::string_view line) const {
  return unit_ == InputUnit::line || (unit_ == InputUnit::paragraph && line.find_first_not_of(" \t") == line.npos);
}

std::optional<InputPart> PartReader::next() {
  std::string text = std::exchange(rest_, {});
  std::size_t whole = 0;  // bytes at the beginning of the text that are whole units
  for (Index counted = 0;;) {
    const auto line = lines_.next();
    if (!line) {
      whole = text.size();
      break;
    }
    text.append(line->text).append(line->ending);
    counted += static_cast<Index>(line->text.size()) + bytes_per_line;
    if (ends_unit(line->text)) whole = text.size();
    if (whole > 0 && (counted >= bytes_ || lines_.is_idle(patience))) break;
  }
  if (text.empty()) return std::nullopt;
  rest_ = text.substr(whole);
  text.resize(whole);
  const Index first_line = next_line_;
  next_line_ += std::count(text.begin(), text.end(), '\n');
  return InputPart{std::move(text), first_line};
}

}  // namespace heddle
