#include "libcore/text/cuts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

class Gpt2Cut : public CutStep {
 public:
  explicit Gpt2Cut(LetterMarks marks) : marks_(marks) {}

  void for_each(std::string_view text, const Split::Take& take) const override {
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = pretoken_end(text, begin, marks_);
      take(begin, end);
    }
  }
  Side side(std::string_view text, std::size_t position) const override {
    return is_pretoken_boundary(text, position, marks_) ? Side::cut : Side::together;
  }

 private:
  LetterMarks marks_;
};

class ByteDigitCut : public CutStep {
 public:
  void for_each(std::string_view text, const Split::Take& take) const override {
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = begin + 1;
      while (end < text.size() && is_digit(text[end]) == is_digit(text[begin])) ++end;
      take(begin, end);
    }
  }
  Side side(std::string_view text, std::size_t position) const override {
    return is_digit(text[position - 1]) == is_digit(text[position]) ? Side::apart : Side::cut;
  }

 private:
  static bool is_digit(char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return (byte >= '0' && byte <= '9') || byte == 0xB2 || byte == 0xB3 || byte == 0xB9 ||
           (byte >= 0xBC && byte <= 0xBE);
  }
};

class Whole : public CutStep {
 public:
  void for_each(std::string_view text, const Split::Take& take) const override {
    if (!text.empty()) take(0, text.size());
  }
  Side side(std::string_view, std::size_t) const override { return Side::apart; }
};

class PrefixSpace : public Whole {
 public:
  // A text that begins with a space gets no other.
  Side side(std::string_view text, std::size_t position) const override {
    return text[position] == ' ' ? Side::apart : Side::together;
  }
  bool adds_space() const override { return true; }
};

class SplitCut : public CutStep {
 public:
  SplitCut(const std::string& expression, Matches matches, bool inverted) : split_(expression, matches, inverted) {}

  void for_each(std::string_view text, const Split::Take& take) const override { split_.for_each(text, take); }
  Side side(std::string_view text, std::size_t position) const override {
    if (!is_character_boundary(text, position)) return Side::together;
    return split_.side(decode_before(text, position).code, decode(text, position).code);
  }

 private:
  Split split_;
};

struct NamedSplit {
  std::string_view name;
  const char* expression;
  Matches matches;
  bool inverted = false;
};
constexpr std::array named_splits{
    NamedSplit{"punctuation", R"([!-/:-@\[-`{-~\p{P}]+)", Matches::isolated},
    NamedSplit{"punctuation-marks", punctuation_expression, Matches::isolated},
    NamedSplit{"digits", R"(\p{N})", Matches::isolated}, NamedSplit{"digit-runs", R"(\p{N}+)", Matches::isolated},
    NamedSplit{"digit-triples", "[0-9][0-9][0-9]", Matches::isolated},
    NamedSplit{"white-space", R"(\s+)", Matches::removed},
    // Oniguruma's \w is another than that of Rust's expressions.
    NamedSplit{"words",
               R"([\w\x{200C}\x{200D}&&[^\xB2\xB3\xB9\xBC-\xBE]]+|[[^\w\s\x{200C}\x{200D}]\xB2\xB3\xB9\xBC-\xBE]+)",
               Matches::removed, true}};

std::unique_ptr<const CutStep> make_cut(const std::string& text) {
  const std::vector<std::string> parts = heddle::split(text, '\t');
  const std::string& name = parts.front();
  if (text == "gpt2") return std::make_unique<Gpt2Cut>(LetterMarks::apart);
  if (text == "gpt2-marks") return std::make_unique<Gpt2Cut>(LetterMarks::joined);
  if (text == "byte-digits") return std::make_unique<ByteDigitCut>();
  if (text == "whole") return std::make_unique<Whole>();
  if (text == "prefix-space") return std::make_unique<PrefixSpace>();
  for (const NamedSplit& one : named_splits) {
    if (text == one.name) return std::make_unique<SplitCut>(one.expression, one.matches, one.inverted);
  }
  const bool inverted = parts.size() == 4 && parts[3] == "inverted";
  if (name == "split" && (parts.size() == 3 || inverted)) {
    for (const auto& [matches, word] : Names<Matches>::list) {
      if (parts[2] == word) return std::make_unique<SplitCut>(parts[1], matches, inverted);
    }
  }
  throw DataError(
      concatenate("the tokenizer splits text by ", quoted(text), ", which this version of heddle does not support"));
}

}  // namespace

std::vector<Origin> CutWord::origins() const {
  std::vector<Origin> origins;
  if (has_added_space) origins.push_back({at, at});
  const std::size_t first = at - origins.size();
  for (std::size_t i = origins.size(); i < end - begin; ++i) origins.push_back({first + i, first + i + 1});
  return origins;
}

Cuts::Cuts(const std::vector<std::string>& names)
    : is_gpt2_(names.empty() || names == std::vector<std::string>{"gpt2"}) {
  std::ranges::transform(names, std::back_inserter(steps_), make_cut);
  if (steps_.empty()) steps_.push_back(make_cut("gpt2"));
}

void Cuts::apply(std::size_t step, const CutWord& piece, const TakeWord& take) const {
  if (step == steps_.size()) return take(piece);
  const std::string_view text = piece.bytes();
  if (steps_[step]->adds_space() && !text.starts_with(' ')) {
    const std::string spaced = concatenate(' ', text);
    return apply(step + 1, {spaced, 0, spaced.size(), piece.at, true}, take);
  }
  steps_[step]->for_each(text, [&](std::size_t begin, std::size_t end) {
    const bool first = begin == 0;
    const std::size_t added = piece.has_added_space && !first ? 1 : 0;
    apply(step + 1,
          {piece.source, piece.begin + begin, piece.begin + end, piece.at + begin - added,
           piece.has_added_space && first},
          take);
  });
}

bool Cuts::is_boundary(std::string_view text, std::size_t position) const {
  for (const auto& step : steps_) {
    const Side side = step->side(text, position);
    if (side != Side::apart) return side == Side::cut;
  }
  return false;
}

}  // namespace heddle::text
