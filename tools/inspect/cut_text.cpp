#include "tools/inspect/cut_text.hpp"

#include <algorithm>

#include "heddle/base/printable.hpp"
#include "heddle/base/strings.hpp"
#include "tools/corpus/invalid_bytes.hpp"
#include "tools/lines/encode_line.hpp"

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
  std::size_t begin_ = 0, number_ = 0;  // of the last character
};

std::optional<std::vector<text::LocatedToken>> located(const text::Tokenizer& tokenizer, const std::string& text,
                                                       text::SpecialText special) {
  try {
    return tokenizer.encode_with_offsets(text, special);
  } catch (const DataError&) {
    return std::nullopt;  // the tokenizer changes this text
  }
}

// Whether the byte continues a character of UTF-8.
bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

CutText with_offsets(const std::string& text, std::span<const text::LocatedToken> tokens, bool to_end) {
  CutText cut{text, {}, {}};
  Characters characters(text);
  std::size_t at = 0;
  for (const auto& [id, begin, end] : tokens) {
    const CutToken::Range bytes{begin, end};
    const std::string gap = begin > at ? text.substr(at, begin - at) : "";
    cut.tokens.push_back(
        {id, gap, text.substr(begin, end - begin), bytes, characters.of(bytes), characters_in(text, bytes)});
    at = std::max(at, end);
  }
  if (to_end) cut.end = text.substr(at);
  return cut;
}

CutText without_offsets(const text::Tokenizer& tokenizer, const std::string& text, const std::vector<TokenId>& ids) {
  CutText cut{text, {}, {}};
  text::TextPlace place = text::TextPlace::begin;
  for (const TokenId id : ids) {
    CutToken token{id, {}, {}, {}, {}, {}};
    tokenizer.decode(id, token.text, std::exchange(place, text::TextPlace::inside));
    token.shown = token.text;
    cut.tokens.push_back(std::move(token));
  }
  return cut;
}

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

CutText cut_text(const text::Tokenizer& tokenizer, const InputText& input, text::SpecialText special) {
  const std::vector<TokenId> ids = encode_valid(tokenizer, input, special);
  const auto tokens = located(tokenizer, input.text, special);
  return tokens ? with_offsets(input.text, *tokens, true) : without_offsets(tokenizer, input.text, ids);
}

CutText cut_text(const text::Tokenizer& tokenizer, const std::string& text, const std::vector<TokenId>& ids) {
  const auto tokens = located(tokenizer, text, text::SpecialText::token);
  const bool same = tokens && tokens->size() >= ids.size() &&
                    std::equal(ids.begin(), ids.end(), tokens->begin(),
                               [](TokenId id, const text::LocatedToken& token) { return id == token.id; });
  if (!same) return without_offsets(tokenizer, text, ids);
  return with_offsets(text, std::span(*tokens).first(ids.size()), ids.size() == tokens->size());
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

std::string label_of(const std::string& shown) {
  std::string label = replaced(shown, " ", "␣");
  label = replaced(replaced(label, "\n", "↵"), "\t", "⇥");
  return printable(label);
}

std::string shortened(const std::string& text, std::size_t columns) {
  if (display_width(text) <= columns) return text;
  std::string result = text;
  while (!result.empty() && (display_width(result) + 1 > columns || !is_utf8(result))) result.pop_back();
  return result + "…";
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

void check_fits_page(std::size_t tokens, const std::string& path) {
  check<DataError>(tokens <= most_on_page, path, ": ", grouped(static_cast<long long>(tokens)),
                   " tokens are more than the ", grouped(most_on_page),
                   " that a page shows; give less text, or write a .tsv");
}

}  // namespace heddle
