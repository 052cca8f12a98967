#include "tools/lines/document_cutter.hpp"

#include <utility>

#include "libcore/text/unicode.hpp"

namespace heddle {

namespace {

// Whether the bytes that a line begins with have a character that is not white space. One whose last bytes are still
// to come is not known. So many blanks count as text, since they are kept in memory.
bool begins_text(std::string_view line) {
  constexpr std::size_t longest_space = 3, most_blanks = std::size_t{1} << 20;
  if (line.size() > most_blanks) return true;
  const std::string_view rest = text::stripped(line);
  const bool may_be_cut = rest.size() < longest_space && static_cast<unsigned char>(rest.empty() ? 0 : rest[0]) >= 0x80;
  return !rest.empty() && !may_be_cut;
}

}  // namespace

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
  if (!line_.empty() && !text::is_blank(line_)) begin_line_of_text();
  give(std::exchange(line_, {}));
  in_text_ = false;
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

// A document begins with a line that is not blank after one that is.
void DocumentCutter::cut_paragraphs(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != text.npos;
    const std::string_view part = text.substr(0, whole ? end + 1 : end);
    text.remove_prefix(part.size());
    if (in_text_) {
      give(part);
    } else {
      line_ += part;
      if (whole ? !text::is_blank(line_) : begins_text(line_)) begin_line_of_text();
      if (whole || in_text_) give(std::exchange(line_, {}));
    }
    if (whole) has_gap_ = has_gap_ || !in_text_;
    if (whole) in_text_ = false;
  }
}

void DocumentCutter::begin_line_of_text() {
  if (has_text_ && has_gap_) end_document();
  has_text_ = in_text_ = true;
  has_gap_ = false;
}

void DocumentCutter::end_document() {
  has_bytes_ = has_text_ = has_gap_ = false;
  sink_.end_document();
}

}  // namespace heddle
