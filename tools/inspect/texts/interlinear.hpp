// Tokens or words side by side, in lines of a terminal, with something below each.
#pragma once

#include <string>

namespace heddle {

class Interlinear {
 public:
  // colours = false: add() ignores the numbers of colours.
  explicit Interlinear(bool colours) : colours_(colours) {}

  // Both printable; on one of the 256 colours of a terminal, or none.
  void add(const std::string& label, const std::string& below, int colour, bool ends_line);
  // All lines, with an empty one after each pair.
  std::string text();

  static constexpr int no_colour = -1;

 private:
  std::string cell(const std::string& content, std::size_t width, int colour) const;
  void finish_line();

  bool colours_;
  std::size_t used_ = 0;
  std::string labels_, below_, text_;
};

}  // namespace heddle
