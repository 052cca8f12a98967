#include "tools/lines/invalid_bytes.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle {

std::string_view InvalidBytes::valid(std::string_view text) {
  failed_ = false;
  if (pass_ || is_utf8(text)) return text;
  text_.clear();
  for (std::size_t at = 0; at < text.size();) {
    const text::Character character = text::decode(text, at);
    if (character.code != text::invalid_character) {
      text_ += text.substr(at, character.length);
    } else if (treatment_ == InvalidText::error) {
      failed_ = true;
      return before_ = text.substr(0, at);
    } else {
      ++count_;
      if (treatment_ == InvalidText::replace) text_ += "\xEF\xBF\xBD";
    }
    at += character.length;
  }
  return text_;
}

void InvalidBytes::check_valid(const std::string& file, text::TextPosition begin) const {
  if (!failed_) return;
  begin.advance(before_);
  throw DataError(
      concatenate(file, ":", begin.line, ":", begin.byte,
                  ": invalid UTF-8, which the tokenizer has no tokens for; tokenize --invalid replace puts U+FFFD in "
                  "its place, --invalid skip leaves it out"));
}

void InvalidBytes::report(const cli::Arguments& arguments) const {
  if (count_ == 0) return;
  arguments.say(concatenate(counted(count_, "byte was", "bytes were"), " invalid UTF-8, and ",
                            treatment_ == InvalidText::replace ? "replaced by U+FFFD" : "left out"));
}

bool takes_any_bytes(const text::Tokenizer& tokenizer) {
  if (tokenizer.kind() == text::TokenizerKind::wordpiece) return false;
  try {
    tokenizer.encode("\xFF", text::SpecialText::plain);
  } catch (const text::TextError&) {
    return false;
  }
  return true;
}

std::size_t unfinished_bytes(std::string_view text) {
  for (std::size_t count = 1; count <= 3 && count <= text.size(); ++count) {
    const auto byte = static_cast<unsigned char>(text[text.size() - count]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > count ? count : 0;
  }
  return 0;
}

}  // namespace heddle
