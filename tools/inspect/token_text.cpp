#include "tools/inspect/token_text.hpp"

#include <algorithm>

#include "libcore/base/printable.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/invalid_bytes.hpp"

namespace heddle {

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

}  // namespace

std::vector<TokenId> encode_valid(const text::Tokenizer& tokenizer, const InputText& input, text::SpecialText special) {
  if (!is_utf8(input.text)) {
    InvalidBytes invalid(InvalidText::error, takes_any_bytes(tokenizer));
    invalid.valid(input.text);
    invalid.check_valid(input.file, {std::max<Index>(1, input.line), 1});
  }
  return encode_at(input, [&] { return tokenizer.encode(input.text, special); });
}

std::string label_of(const std::string& shown) {
  std::string label = replaced(shown, " ", "␣");
  label = replaced(replaced(label, "\n", "↵"), "\t", "⇥");
  return printable(label);
}

}  // namespace heddle
