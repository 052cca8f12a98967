#include "tools/lines/document_cutter.hpp"

#include <algorithm>

namespace heddle {

void DocumentCutter::add(std::string_view text) {
  if (separator_ == Documents::line) {
    cut_lines(text);
  } else if (separator_ == Documents::blank) {
    cut_paragraphs(text);
  } else {
    give(text);
  }
}

void DocumentCutter::end_input() {
  if (separator_ == Documents::file || (separator_ != Documents::whole && has_bytes_)) end_document();
}

void DocumentCutter::finish() {
  if (separator_ == Documents::whole) end_document();
}

void DocumentCutter::give(std::string_view text) {
  if (text.empty()) return;
  has_bytes_ = true;
  sink_.add(text);
}

void DocumentCutter::cut_lines(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    give(text.substr(0, end + 1));
    end_document();
    text.remove_prefix(end + 1);
  }
  give(text);
}

// A document begins with the first byte of text after two line ends with nothing but carriage returns between them.
void DocumentCutter::cut_paragraphs(std::string_view text) {
  while (!text.empty()) {
    const std::size_t gap = std::min(text.find_first_not_of("\r\n"), text.size());
    line_ends_ += std::ranges::count(text.substr(0, gap), '\n');
    give(text.substr(0, gap));
    text.remove_prefix(gap);
    if (text.empty()) return;
    if (has_text_ && line_ends_ >= 2) end_document();
    line_ends_ = 0;
    has_text_ = true;
    const std::size_t end = std::min(text.find('\n'), text.size());
    give(text.substr(0, end));
    text.remove_prefix(end);
  }
}

void DocumentCutter::end_document() {
  has_bytes_ = has_text_ = false;
  line_ends_ = 0;
  sink_.end_document();
}

}  // namespace heddle
