#include "tools/generate/blank_text.hpp"

#include "tools/lines/encode_line.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

void drop_last_space(std::string& text) {
  if (text.ends_with(' ')) text.pop_back();
}

}  // namespace

BlankText::BlankText(const text::Tokenizer& tokenizer, std::string text)
    : tokenizer_(tokenizer), text_(std::move(text)) {
  check<DataError>(tokenizer.mask().has_value(), "the model's tokenizer has no mask token");
  mask_ = tokenizer.bytes(*tokenizer.mask());
  std::size_t begin = 0;
  for (std::size_t end = text_.find(mask_); end != std::string::npos; end = text_.find(mask_, begin)) {
    parts_.push_back(text_.substr(begin, end - begin));
    begin = end + mask_.size();
  }
  parts_.push_back(text_.substr(begin));
}

bool BlankText::pieces_have_spaces() const {
  const text::TokenizerKind kind = tokenizer_.kind();
  return kind != text::TokenizerKind::wordpiece && kind != text::TokenizerKind::character &&
         kind != text::TokenizerKind::byte;
}

std::vector<TokenId> BlankText::encode(const std::string& where) const {
  std::string read;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (i > 0) read += mask_;
    read += parts_[i];
    if (i + 1 < parts_.size() && pieces_have_spaces()) drop_last_space(read);
  }
  return encode_line(tokenizer_, read, where);
}

std::string BlankText::filled(std::span<const TokenId> pieces) const {
  std::string result = parts_[0];
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    if (i >= pieces.size()) {
      result += mask_ + parts_[i + 1];
      continue;
    }
    std::string piece;
    tokenizer_.decode(pieces[i], piece, text::TextPlace::inside);
    const bool begins_with_space = piece.starts_with(' ');
    if (tokenizer_.is_special(pieces[i])) {
      piece = tokenizer_.bytes(pieces[i]);
    } else if (pieces_have_spaces()) {
      drop_last_space(result);
      if (result.empty() && begins_with_space) piece.erase(0, 1);
    } else if (tokenizer_.kind() == text::TokenizerKind::wordpiece) {
      // The space is not part of the piece; without it, the piece continues a word.
      if (begins_with_space) piece.erase(0, 1);
      if (!begins_with_space) drop_last_space(result);
    }
    result += escaped_line_ends(piece) + parts_[i + 1];
  }
  return result;
}

}  // namespace heddle
