// A text and its tokens, as people and programs read them.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/inspect/token_text.hpp"

namespace heddle {

struct CutToken {
  TokenId id;
  std::string gap;   // bytes of the text before it that no token stands for
  std::string text;  // bytes that it stands for; those that it decodes to where it has no place
  // [begin, end) in the text, from 0; none of ids that are not those of the text.
  struct Range {
    std::size_t begin, end;
  };
  std::optional<Range> bytes, characters;  // characters: all of which it has a byte
  // For people, also where it ends inside of a character: the characters that begin in it, or ‥ if none does.
  std::string shown;
};

// A text and its ids. Its tokens are made one by one, for with what is known of them they take a hundred times the
// bytes of a long text.
class EncodedText {
 public:
  // Throws DataError as encode_valid().
  EncodedText(const text::Tokenizer& tokenizer, const InputText& input,
              text::SpecialText special = text::SpecialText::token);
  // Takes a model's ids, which may be fewer than the text's, or others.
  EncodedText(const text::Tokenizer& tokenizer, std::string text, std::vector<TokenId> ids);

  const std::string& text() const { return text_; }
  std::size_t tokens() const { return count_; }
  std::span<const TokenId> ids() const { return std::span(ids_).first(count_); }
  bool has_offsets() const { return has_offsets_; }

  void truncate(std::size_t tokens) { count_ = std::min(count_, tokens); }

  // Calls visit for each token, in order, and returns the bytes of the text after the last one.
  std::string for_each(const std::function<void(const CutToken&)>& visit) const;

 private:
  std::string for_each_located(const std::function<void(const CutToken&)>& visit) const;

  const text::Tokenizer& tokenizer_;
  text::SpecialText special_ = text::SpecialText::token;
  std::string text_;
  std::vector<TokenId> ids_;  // all ids of the text if offsets are wanted, else count_ ids
  std::size_t count_;
  bool has_offsets_;
};

// The tokens of a text that is not long.
struct CutText {
  std::string text;
  std::vector<CutToken> tokens;
  std::string end;  // bytes of the text after the last token
};
CutText cut_text(const EncodedText& text);

// The characters of the text that begin in these bytes, or ‥ if none does; the bytes where they are not UTF-8.
std::string characters_in(std::string_view text, const CutToken::Range& bytes);

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

// Destination and format of the tokens of texts.
struct TokenAnswer {
  std::string output;
  bool json = false, jsonl = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("output", "file to write: a page .html, a picture .svg, .png or .pdf, or a table .tsv")
                .letter('o')
                .not_empty()
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("jsonl", "print one JSON object per text, one per line").essential(), self.jsonl);
  }
  // Throws UsageError for several forms, --table being one, and for other files; subject: "tokens are".
  void check_usage(bool table, const std::string& subject) const;
};

// Throws DataError for more tokens than a page shows.
void check_fits_page(std::size_t tokens, const std::string& path);

// Writes the page of texts that have page_data(), and what tokens.js shows of scores; name: of the tokenizer or model.
void write_token_page(const std::string& path, const std::string& title, const std::string& name,
                      const text::Tokenizer& tokenizer, formats::Json scored, formats::Json texts);

}  // namespace heddle
