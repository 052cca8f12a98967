// Pictures of texts as shaded tokens.
#pragma once

#include <string>
#include <vector>

namespace heddle {

struct DrawnToken {
  std::string label, below;  // printable; what is below it may be empty
  double shade = 0;          // from 0 to 1: from the paper to orange
  bool ends_line = false;
  bool begins_text = false;
  double height = 0;  // height of the line above the texts; not negative
};

// Tokens side by side in lines, each on its shade, and above them, where heights are not all 0, a line of these along
// the tokens. Throws UsageError for more tokens than a picture has.
void draw_tokens(const std::string& path, const std::string& title, const std::vector<DrawnToken>& tokens);

}  // namespace heddle
