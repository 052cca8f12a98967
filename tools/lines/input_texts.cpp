#include "tools/lines/input_texts.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle {

namespace {

// Long enough for a program that writes continuously, too short for people to notice.
constexpr std::chrono::milliseconds patience{2};

}  // namespace

bool InputTexts::ends_text(std::string_view line) {
  switch (unit_) {
    case TextUnit::line:
    case TextUnit::json:
    case TextUnit::exact_line:
      return true;
    case TextUnit::row:
      pass_quotes(line);
      return !quote_is_open_;
    case TextUnit::paragraph:
      return text::is_blank(line);
    case TextUnit::document:
      break;
  }
  return false;
}

// The first line that is not blank says which it is.
void InputTexts::settle_json(std::string_view first_line) {
  const std::string_view text = text::stripped(without_byte_order_mark(first_line));
  if (!text.empty()) unit_ = text.starts_with('[') ? TextUnit::document : TextUnit::line;
}

// Quotes open at the beginning of a field alone. A doubled one closes and opens again.
void InputTexts::pass_quotes(std::string_view line) {
  bool may_open = true;
  for (const char letter : line) {
    if (letter == marks_.quote && letter != 0 && (quote_is_open_ || may_open)) {
      quote_is_open_ = !quote_is_open_;
      may_open = true;
    } else if (!quote_is_open_) {
      may_open = marks_.separators.find(letter) != std::string::npos;
    }
  }
}

std::optional<InputText> InputTexts::next(const std::function<void()>& before_waiting) {
  InputText text{{}, name_, lines_.number() + 1};
  for (bool has_line = false;; has_line = true) {
    if (lines_.is_idle(patience)) before_waiting();
    const auto line = lines_.next();
    if (!line) return has_line ? std::optional(std::move(text)) : std::nullopt;
    if (unit_ == TextUnit::json) settle_json(line->text);
    if (unit_ == TextUnit::line || unit_ == TextUnit::json) {
      text.text = text.line == 1 ? without_byte_order_mark(line->text) : line->text;
    } else {
      text.text.append(line->text).append(line->ending == "\r" ? "\n" : line->ending);
      if (unit_ == TextUnit::exact_line && text.text.ends_with('\n')) text.text.pop_back();
    }
    if (ends_text(line->text)) return text;
  }
}

}  // namespace heddle
