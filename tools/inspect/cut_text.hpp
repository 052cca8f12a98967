// A text and its tokens, as people and programs read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/formats/archives/json_archive.hpp"
#include "heddle/text/tokenizer.hpp"
#include "tools/lines/text_reader.hpp"

namespace heddle {

struct CutToken {
  TokenId id;
  std::string gap;   // bytes of the text before it that no token stands for
  std::string text;  // bytes that it stands for; in texts that the tokenizer changes, those that it decodes to
  // [begin, end) in the text, from 0; none in texts that the tokenizer changes.
  struct Range {
    std::size_t begin, end;
  };
  std::optional<Range> bytes, characters;  // characters: all of which it has a byte
  // For people, also where it ends inside of a character: the characters that begin in it, or ‥ if none does.
  std::string shown;
};

struct CutText {
  std::string text;
  std::vector<CutToken> tokens;
  std::string end;  // bytes of the text after the last token
  bool has_offsets() const { return tokens.empty() || tokens.front().bytes.has_value(); }
};

// Throws DataError, "FILE:LINE:BYTE: …", for text that the tokenizer has no token for, and for invalid UTF-8 that it
// would leave out silently.
std::vector<TokenId> encode_valid(const text::Tokenizer& tokenizer, const InputText& input,
                                  text::SpecialText special = text::SpecialText::token);

// Throws DataError as encode_valid().
CutText cut_text(const text::Tokenizer& tokenizer, const InputText& input,
                 text::SpecialText special = text::SpecialText::token);

// The same of a model's ids, which may be fewer than the text's, or others.
CutText cut_text(const text::Tokenizer& tokenizer, const std::string& text, const std::vector<TokenId>& ids);

// The characters of the text that begin in these bytes, or ‥ if none does; the bytes where they are not UTF-8.
std::string characters_in(std::string_view text, const CutToken::Range& bytes);

// What people see of a token, on one line: ␣ for a space, ↵, ⇥, and \xHH for what cannot be printed.
std::string label_of(const std::string& shown);
inline std::string label_of(const CutToken& token) {
  return label_of(token.shown);
}

// At most so many columns of a terminal, with … at the end of what was longer.
std::string shortened(const std::string& text, std::size_t columns);

// "12:15", or "" without.
std::string range_text(const std::optional<CutToken::Range>& range);

// id, piece, text, begin, end, begin_character, end_character, special.
formats::Json as_json(const CutToken& token, const text::Tokenizer& tokenizer);

// For tokens.js: the text as lists over its tokens.
formats::Json page_data(const CutText& text, const text::Tokenizer& tokenizer);

// Throws DataError for more tokens than a page shows.
void check_fits_page(std::size_t tokens, const std::string& path);

}  // namespace heddle
