#include "tools/inspect/texts/interlinear.hpp"

#include <algorithm>

#include "libcore/base/printable.hpp"
#include "tools/drawing/terminal.hpp"
#include "tools/inspect/texts/cut_text.hpp"

namespace heddle {

void Interlinear::add(const std::string& label, const std::string& below, int colour, bool ends_line) {
  constexpr std::size_t columns = 96, widest = 40;
  const std::string shown = shortened(label, widest);
  const std::size_t width = std::max(display_width(shown), display_width(below));
  if (used_ + width > columns) finish_line();
  used_ += width + 1;
  labels_ += cell(shown, width, colour);
  below_ += cell(below, width, colour);
  if (ends_line) finish_line();
}

std::string Interlinear::text() {
  finish_line();
  return text_;
}

std::string Interlinear::cell(const std::string& content, std::size_t width, int colour) const {
  const std::string padded = content + std::string(width - display_width(content), ' ');
  return (colours_ && colour != no_colour ? on_colour(colour, padded) : padded) + " ";
}

void Interlinear::finish_line() {
  if (used_ == 0) return;
  for (std::string* line : {&labels_, &below_}) {
    line->erase(line->find_last_not_of(' ') + 1);
    text_ += *line + "\n";
    line->clear();
  }
  text_ += "\n";
  used_ = 0;
}

}  // namespace heddle
