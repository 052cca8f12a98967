// Divides text into documents.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "libcore/base/real.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

enum class Documents {
  line,   // every line
  blank,  // separated by blank lines
  file,   // every input
  whole   // all inputs together
};

}  // namespace heddle

template <>
struct heddle::Names<heddle::Documents> {
  static constexpr std::pair<Documents, std::string_view> list[] = {
      {Documents::line, "line"}, {Documents::blank, "blank"}, {Documents::file, "file"}, {Documents::whole, "whole"}};
};

namespace heddle {

// Divides inputs that arrive in parts into documents. No byte is lost: line ends and blank lines, which have nothing
// but white space, belong to the preceding document.
class DocumentCutter {
 public:
  struct Sink {
    std::function<void(std::string_view text)> add;
    std::function<void()> end_document;
  };
  DocumentCutter(Documents separator, Sink sink) : separator_(separator), sink_(std::move(sink)) {}

  void add(std::string_view text);
  void end_input();
  void finish();  // after the last input

 private:
  void give(std::string_view text);
  void cut_lines(std::string_view text);
  void cut_paragraphs(std::string_view text);
  void begin_line_of_text();
  void end_document();

  Documents separator_;
  Sink sink_;
  bool has_bytes_ = false;  // the current document has bytes
  // For documents between blank lines:
  bool has_text_ = false, has_gap_ = false;  // a line that is not blank, and a blank one after it
  bool in_text_ = false;                     // the current line is not blank
  std::string line_;                         // its bytes, as long as it is
};

}  // namespace heddle
