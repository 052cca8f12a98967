#include "tools/lines/blank_text.hpp"

#include <algorithm>
#include <map>

#include "libcore/text/sentinels.hpp"
#include "tools/lines/encode_line.hpp"

namespace heddle {

namespace {

void drop_last_space(std::string& text) {
  if (text.ends_with(' ')) text.pop_back();
}

}  // namespace

std::vector<BlankMark> noise_marks(const text::Tokenizer& tokenizer) {
  std::vector<BlankMark> marks;
  if (const auto mask = tokenizer.mask()) marks.push_back({*mask, BlankMark::Of::words});
  for (const TokenId sentinel : text::sentinels_of(tokenizer)) marks.push_back({sentinel});
  return marks;
}

BlankText::BlankText(const text::Tokenizer& tokenizer, std::string text, const std::vector<BlankMark>& marks)
    : tokenizer_(tokenizer), text_(std::move(text)) {
  std::size_t begin = 0;
  while (true) {
    const BlankMark* next = nullptr;
    std::size_t end = std::string::npos;
    for (const BlankMark& mark : marks) {
      const std::size_t at = text_.find(tokenizer_.bytes(mark.id), begin);
      if (at < end) next = &mark, end = at;
    }
    parts_.push_back(text_.substr(begin, end - begin));
    if (next == nullptr) break;
    blanks_.push_back(*next);
    begin = end + tokenizer_.bytes(next->id).size();
  }
}

bool BlankText::has(TokenId mark) const {
  return std::ranges::count(blanks_, mark, &BlankMark::id) > 0;
}

bool BlankText::pieces_have_spaces() const {
  const text::TokenizerKind kind = tokenizer_.kind();
  return kind != text::TokenizerKind::wordpiece && kind != text::TokenizerKind::character &&
         kind != text::TokenizerKind::byte;
}

// Whole words have the space before them in every tokenizer but those without spaces.
bool BlankText::takes_space(const BlankMark& mark) const {
  return pieces_have_spaces() ||
         (mark.of == BlankMark::Of::words && tokenizer_.kind() != text::TokenizerKind::wordpiece);
}

std::vector<TokenId> BlankText::encode(const std::string& where) const {
  std::string read = parts_[0];
  for (std::size_t i = 0; i < blanks_.size(); ++i) {
    if (takes_space(blanks_[i])) drop_last_space(read);
    (read += tokenizer_.bytes(blanks_[i].id)) += parts_[i + 1];
  }
  return encode_line(tokenizer_, read, where);
}

std::string BlankText::content_text(std::span<const TokenId> content) const {
  std::string text;
  for (const TokenId id : content) tokenizer_.decode(id, text, text::TextPlace::inside);
  return text;
}

void BlankText::append_content(std::string& result, const BlankMark& mark, std::span<const TokenId> content) const {
  std::string text = content_text(content);
  const bool begins_with_space = text.starts_with(' ');
  if (!content.empty() && tokenizer_.is_special(content.front())) {
    text = tokenizer_.bytes(content.front());
  } else if (takes_space(mark)) {
    drop_last_space(result);
    if (result.empty() && begins_with_space) text.erase(0, 1);
  } else if (tokenizer_.kind() == text::TokenizerKind::wordpiece) {
    // The space is not part of the piece; without it, the piece continues a word.
    if (begins_with_space) text.erase(0, 1);
    if (!begins_with_space) drop_last_space(result);
  }
  result += text;
}

std::string BlankText::filled(const Contents& contents) const {
  std::string result = parts_[0];
  for (std::size_t i = 0; i < blanks_.size(); ++i) {
    if (i < contents.size() && contents[i]) {
      append_content(result, blanks_[i], *contents[i]);
    } else {
      result += tokenizer_.bytes(blanks_[i].id);
    }
    result += parts_[i + 1];
  }
  return result;
}

BlankText::Contents BlankText::listed_by(std::span<const TokenId> target) const {
  std::map<TokenId, std::vector<TokenId>> listed;
  TokenId mark = -1;
  for (const TokenId id : target) {
    if (tokenizer_.is_special(id)) {
      mark = listed.contains(id) ? -1 : id;
    } else if (mark >= 0) {
      listed[mark].push_back(id);
    }
  }
  Contents contents;
  for (const BlankMark& blank : blanks_) {
    const auto found = listed.find(blank.id);
    contents.push_back(found == listed.end() ? std::nullopt : std::optional(found->second));
  }
  return contents;
}

}  // namespace heddle
