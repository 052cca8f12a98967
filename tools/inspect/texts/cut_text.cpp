#include "tools/inspect/texts/cut_text.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/page_parts.hpp"

namespace heddle {

namespace {

using formats::Json;

constexpr std::size_t most_on_page = 50000;

// Offsets of characters for growing offsets of bytes; bytes that are not UTF-8 are characters of their own.
class Characters {
 public:
  explicit Characters(std::string_view text) : text_(text) {}

  // The characters of which the bytes [begin, end) have one. Offsets that go back begin anew.
  CutToken::Range of(const CutToken::Range& bytes) {
    const std::size_t first = containing(bytes.begin);
    return {first, bytes.end > bytes.begin ? containing(bytes.end - 1) + 1 : first};
  }

 private:
  std::size_t containing(std::size_t byte) {
    if (byte < begin_) begin_ = number_ = 0;
    while (begin_ < text_.size() && begin_ + length_at(begin_) <= byte) {
      begin_ += length_at(begin_);
      ++number_;
    }
    return number_;
  }
  std::size_t length_at(std::size_t at) const {
    for (std::size_t length = 1; length <= 4 && at + length <= text_.size(); ++length) {
      if (is_utf8(text_.substr(at, length))) return length;
    }
    return 1;
  }

  std::string_view text_;
  std::size_t begin_ = 0, number_ = 0;  // start and number of the last character
};

// Whether the byte continues a character of UTF-8.
bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

EncodedText::EncodedText(const text::Tokenizer& tokenizer, const InputText& input, text::SpecialText special)
    : tokenizer_(tokenizer),
      special_(special),
      text_(input.text),
      ids_(encode_valid(tokenizer, input, special)),
      count_(ids_.size()),
      has_offsets_(true) {}

EncodedText::EncodedText(const text::Tokenizer& tokenizer, std::string text, std::vector<TokenId> ids)
    : tokenizer_(tokenizer), text_(std::move(text)), ids_(std::move(ids)), count_(ids_.size()), has_offsets_(false) {
  try {
    std::vector<TokenId> own = tokenizer.encode(text_);
    if (own.size() < count_ || !std::equal(ids_.begin(), ids_.end(), own.begin())) return;
    ids_ = std::move(own);
    has_offsets_ = true;
  } catch (const text::TextError&) {  // these ids were not made from the text alone
  }
  if (!has_offsets_) ids_.resize(count_);
}

std::string EncodedText::for_each(const std::function<void(const CutToken&)>& visit) const {
  if (has_offsets_) return for_each_located(visit);
  text::TextPlace place = text::TextPlace::begin;
  for (const TokenId id : ids()) {
    CutToken token{id, {}, {}, {}, {}, {}};
    tokenizer_.decode(id, token.text, std::exchange(place, text::TextPlace::inside));
    token.shown = token.text;
    visit(token);
  }
  return "";
}

std::string EncodedText::for_each_located(const std::function<void(const CutToken&)>& visit) const {
  Characters characters(text_);
  std::size_t at = 0, number = 0;
  tokenizer_.locate(text_, ids_, special_, [&](const text::LocatedToken& token) {
    if (number++ >= count_) return;
    const auto& [id, begin, end] = token;
    const CutToken::Range bytes{begin, end};
    visit({id, begin > at ? text_.substr(at, begin - at) : "", text_.substr(begin, end - begin), bytes,
           characters.of(bytes), characters_in(text_, bytes)});
    at = std::max(at, end);
  });
  return count_ == ids_.size() ? text_.substr(at) : "";
}

CutText cut_text(const EncodedText& text) {
  CutText cut{text.text(), {}, {}};
  cut.tokens.reserve(text.tokens());
  cut.end = text.for_each([&](const CutToken& token) { cut.tokens.push_back(token); });
  return cut;
}

std::string characters_in(std::string_view text, const CutToken::Range& bytes) {
  const std::string_view own = text.substr(bytes.begin, bytes.end - bytes.begin);
  if (is_utf8(own)) return std::string(own);
  std::size_t first = bytes.begin, begin = bytes.begin, end = bytes.end;
  while (first > 0 && continues(text[first])) --first;
  while (begin < bytes.end && continues(text[begin])) ++begin;
  while (end < text.size() && continues(text[end])) ++end;
  if (!is_utf8(text.substr(first, end - first))) return std::string(own);
  return begin < bytes.end ? std::string(text.substr(begin, end - begin)) : "‥";
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (display_width(text) <= columns) return text;
  std::size_t end = 0;
  for (std::size_t width = 1; end < text.size();) {
    const std::size_t next = grapheme_end(text, end);
    width += display_width(std::string_view(text).substr(end, next - end));
    if (width > columns) break;
    end = next;
  }
  return text.substr(0, end) + "…";
}

std::string range_text(const std::optional<CutToken::Range>& range) {
  return range ? concatenate(range->begin, ":", range->end) : "";
}

Json as_json(const CutToken& token, const text::Tokenizer& tokenizer) {
  Json json{{"id", token.id}, {"piece", tokenizer.piece(token.id)}, {"text", token.text}};
  json["begin"] = token.bytes ? Json(token.bytes->begin) : Json();
  json["end"] = token.bytes ? Json(token.bytes->end) : Json();
  json["begin_character"] = token.characters ? Json(token.characters->begin) : Json();
  json["end_character"] = token.characters ? Json(token.characters->end) : Json();
  json["special"] = tokenizer.is_special(token.id);
  return json;
}

Json page_data(const CutText& text, const text::Tokenizer& tokenizer) {
  Json ids = Json::array(), pieces = Json::array(), texts = Json::array(), gaps = Json::array(), kinds = Json::array(),
       bytes = Json::array(), characters = Json::array();
  for (const CutToken& token : text.tokens) {
    ids.push_back(token.id);
    pieces.push_back(printable(tokenizer.piece(token.id)));
    texts.push_back(printable_lines(token.shown));
    gaps.push_back(printable_lines(token.gap));
    kinds.push_back(token.id == tokenizer.unknown() ? 2 : tokenizer.is_special(token.id) ? 1 : 0);
    if (token.bytes) bytes.push_back({token.bytes->begin, token.bytes->end});
    if (token.characters) characters.push_back({token.characters->begin, token.characters->end});
  }
  return {{"ids", ids},
          {"pieces", pieces},
          {"texts", texts},
          {"gaps", gaps},
          {"kinds", kinds},
          {"bytes", bytes},
          {"end", printable_lines(text.end)},
          {"characters", characters}};
}

void TokenAnswer::check_usage(bool table, const std::string& subject) const {
  check_forms(json, jsonl);
  check<UsageError>(!table || (!json && !jsonl), "--table prints for people; leave --json out");
  if (output.empty()) return;
  check<UsageError>(is_page_name(output) || Picture::is_name(output) || output.ends_with(".tsv"), output, ": ", subject,
                    " written into files that end in .html, .svg, .png, .pdf or .tsv");
  check<UsageError>(!json && !jsonl && !table, "-o writes a page, a picture or a table; leave --json and --table out");
}

void check_fits_page(std::size_t tokens, const std::string& path) {
  check<DataError>(tokens <= most_on_page, path, ": ", grouped(static_cast<long long>(tokens)),
                   " tokens are more than the ", grouped(most_on_page),
                   " that a page shows; give less text, or write a .tsv");
}

void write_token_page(const std::string& path, const std::string& title, const std::string& name,
                      const text::Tokenizer& tokenizer, Json scored, Json texts) {
  write_page(path, title + printable(name), tokens_parts(),
             {{"generator", "heddle " + cli::version()},
              {"name", printable(name)},
              {"tokenizer", to_text(tokenizer.kind())},
              {"vocabulary", tokenizer.vocab_size()},
              {"scored", std::move(scored)},
              {"texts", std::move(texts)}});
}

}  // namespace heddle
