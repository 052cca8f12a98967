#include "libcore/text/normaliser.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/normal_forms.hpp"
#include "libcore/text/pattern.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// A step that treats each character by itself.
class ByCharacter : public NormaliserStep {
 public:
  void apply(NormalText& text) const override {
    Rewriting rewriting(text);
    std::string image;
    const std::string_view old = rewriting.old();
    for (std::size_t at = 0; at < old.size();) {
      const Character character = decode(old, at);
      const std::size_t end = at + character.length;
      image.assign(old.substr(at, character.length));
      map(character.code, image);
      rewriting.put(image, at, end);
      at = end;
    }
    rewriting.finish();
  }
  bool leaves(char32_t code) const override {
    if (code == invalid_character) return false;
    std::string before, image;
    append_utf8(before, code);
    image = before;
    map(code, image);
    return image == before;
  }

 private:
  // The image is the character to begin with.
  virtual void map(char32_t code, std::string& image) const = 0;
};

class Lowercase : public ByCharacter {
  void map(char32_t code, std::string& image) const override {
    if (code == invalid_character) return;
    image.clear();
    LowerCase(false).append(image, code);
  }
};

class Removal : public ByCharacter {
 public:
  explicit Removal(CodePoints removed) : removed_(std::move(removed)) {}

 private:
  void map(char32_t code, std::string& image) const override {
    if (removed_.contains(code)) image.clear();
  }
  CodePoints removed_;
};

class Cleaning : public ByCharacter {
  void map(char32_t code, std::string& image) const override {
    switch (basic_role(code)) {
      case BasicRole::dropped:
        return image.clear();
      case BasicRole::space:
        image = " ";
        return;
      case BasicRole::alone:
      case BasicRole::part:
        return;
    }
  }
};

class ChineseSpaces : public ByCharacter {
  void map(char32_t code, std::string& image) const override {
    if (is_chinese(code)) image = concatenate(' ', image, ' ');
  }
};

class Strip : public NormaliserStep {
 public:
  explicit Strip(bool left) : left_(left) {}

  void apply(NormalText& text) const override {
    const std::string_view kept = stripped(text.text);
    const std::size_t begin =
        kept.empty() ? text.text.size() : static_cast<std::size_t>(kept.data() - text.text.data());
    const std::size_t first = left_ ? begin : 0, last = left_ || kept.empty() ? text.text.size() : begin + kept.size();
    Rewriting rewriting(text);
    rewriting.keep(first, kept.empty() ? first : last);
    rewriting.finish();
  }
  bool leaves(char32_t code) const override { return classify(code) != CharacterClass::space; }

 private:
  bool left_;
};

class Prepending : public NormaliserStep {
 public:
  explicit Prepending(std::string text) : prefix_(std::move(text)) {}

  void apply(NormalText& text) const override {
    if (text.text.empty()) return;
    Rewriting rewriting(text);
    rewriting.put(prefix_, 0, 0);
    rewriting.keep(0, rewriting.old().size());
    rewriting.finish();
  }
  bool leaves(char32_t) const override { return false; }

 private:
  std::string prefix_;
};

class Replacing : public NormaliserStep {
 public:
  Replacing(const std::string& expression, std::string content) : pattern_(expression), content_(std::move(content)) {}

  void apply(NormalText& text) const override {
    Rewriting rewriting(text);
    for_each_span(pattern_, rewriting.old(), [&](const PatternSpan& span) {
      span.is_match ? rewriting.put(content_, span.begin, span.end) : rewriting.keep(span.begin, span.end);
    });
    rewriting.finish();
  }
  bool leaves(char32_t code) const override { return !pattern_.may_read(code); }

 private:
  Pattern pattern_;
  std::string content_;
};

std::unique_ptr<const NormaliserStep> make_normaliser_step(const std::string& text) {
  if (auto form = make_normal_form(text)) return form;
  if (text == "lowercase") return std::make_unique<Lowercase>();
  if (text == "strip-marks") return std::make_unique<Removal>(*category("M"));
  if (text == "strip-accents") return std::make_unique<Removal>(*category("Mn"));
  if (text == "strip-left" || text == "strip-right") return std::make_unique<Strip>(text == "strip-left");
  if (text == "clean") return std::make_unique<Cleaning>();
  if (text == "space-chinese") return std::make_unique<ChineseSpaces>();
  const std::vector<std::string> parts = split(text, '\t');
  if (parts[0] == "prepend" && parts.size() == 2) return std::make_unique<Prepending>(parts[1]);
  if (parts[0] == "replace" && parts.size() == 3) return std::make_unique<Replacing>(parts[1], parts[2]);
  throw DataError(concatenate("the tokenizer normalises text by ", quoted(text),
                              ", which this version of heddle does not support"));
}

}  // namespace

Rewriting::Rewriting(NormalText& text) : text_(text), old_(std::move(text)) {
  text_ = {.text = {}, .most = old_.most, .located = old_.located, .origins = {}};
  text_.text.reserve(old_.text.size() + 16);
}

void Rewriting::put(std::string_view replacement, std::size_t begin, std::size_t end) {
  if (text_.text.size() + replacement.size() > text_.most) throw NoToken(0, "normalisation makes this text far longer");
  text_.text += replacement;
  if (!text_.located) return;
  Origin origin{0, 0};
  if (begin < end) {
    origin = {old_.origins[begin].begin, old_.origins[end - 1].end};
  } else if (begin < old_.origins.size()) {
    origin = {old_.origins[begin].begin, old_.origins[begin].begin};
  }
  text_.origins.resize(text_.text.size(), origin);
}

void Rewriting::keep(std::size_t begin, std::size_t end) {
  text_.text.append(old_.text, begin, end - begin);
  if (!text_.located) return;
  const auto first = old_.origins.begin() + static_cast<std::ptrdiff_t>(begin);
  text_.origins.insert(text_.origins.end(), first, first + static_cast<std::ptrdiff_t>(end - begin));
}

void Rewriting::finish() {
  old_ = {};
}

Normaliser::Normaliser(const std::vector<std::string>& names) {
  std::transform(names.begin(), names.end(), std::back_inserter(steps_), make_normaliser_step);
}

NormalText Normaliser::apply(std::string_view text, bool located) const {
  constexpr std::size_t most_growth = 64;
  NormalText result{std::string(text), most_growth * (text.size() + most_growth), located, {}};
  if (located) {
    result.origins.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) result.origins.push_back({at, at + 1});
  }
  for (const auto& step : steps_) step->apply(result);
  return result;
}

bool Normaliser::is_boundary(std::string_view text, std::size_t position) const {
  if (!is_character_boundary(text, position)) return false;
  const Character left = decode_before(text, position), right = decode(text, position);
  const std::size_t next = position + right.length;
  const bool marked = next < text.size() && !begins_normal_form(decode(text, next).code);
  return !marked && std::ranges::all_of(
                        steps_, [&](const auto& step) { return step->leaves(left.code) && step->leaves(right.code); });
}

}  // namespace heddle::text
