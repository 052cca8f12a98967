#include "libcore/text/spaced_words.hpp"

#include <array>

#include "libcore/base/base64.hpp"
#include "libcore/base/error.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// SentencePiece has no space in U+0085, though Unicode has.
bool is_sentencepiece_space(char32_t code) {
  constexpr char32_t next_line = 0x85;
  return classify(code) == CharacterClass::space && code != next_line;
}

// The word of a scratch, as it grows from the scratch's normalised text.
class GrowingWord {
 public:
  explicit GrowingWord(SpacedWords::Scratch& scratch) : scratch_(scratch) {}

  void begin() { start(false, {}); }
  // Begins with a space that is in the text, as the mark at the position.
  void begin_with_mark(std::size_t at) {
    start(true, scratch_.located ? Origin{scratch_.origins[at].begin, scratch_.origins[at + space_mark.size() - 1].end}
                                 : Origin{});
  }
  void add(std::size_t at, std::size_t size) {
    scratch_.word.append(scratch_.normalised, at, size);
    if (!scratch_.located) return;
    const auto first = scratch_.origins.begin() + static_cast<std::ptrdiff_t>(at);
    scratch_.word_origins.insert(scratch_.word_origins.end(), first, first + static_cast<std::ptrdiff_t>(size));
  }
  bool is_only_space() const { return scratch_.word.size() == 1; }
  bool has_mark() const { return has_mark_; }
  void finish(const SpacedWords::Take& take) {
    if (scratch_.located && !has_mark_) {
      // An empty one, where the word begins.
      const std::size_t place = scratch_.word_origins.size() > 1 ? scratch_.word_origins[1].begin : 0;
      scratch_.word_origins.front() = {place, place};
    }
    take(scratch_.word);
  }

 private:
  void start(bool has_mark, Origin space) {
    scratch_.word = ' ';
    has_mark_ = has_mark;
    if (scratch_.located) scratch_.word_origins.assign(1, space);
  }

  SpacedWords::Scratch& scratch_;
  bool has_mark_ = false;
};

}  // namespace

SpacedWords::SpacedWords(const TokenizerModel& model) : only_spaces_(model.only_spaces) {
  std::string map;
  for (const std::string& part : model.charsmap) {
    const std::optional<std::string> bytes = from_base64(part);
    check<DataError>(bytes.has_value(), "the tokenizer's charsmap is not base64");
    map += *bytes;
  }
  if (!map.empty()) charsmap_ = std::make_unique<const Charsmap>(map);
  for (const char blank : ascii_blanks) {
    std::string normalised(1, blank);
    if (only_spaces_ && charsmap_) {
      normalised.clear();
      charsmap_->apply({&blank, 1}, normalised);
    }
    if (!only_spaces_ || normalised == " ") separators_ += blank;
  }
}

// SentencePiece removes spaces from the end of a text, also those that are spelled U+2581.
std::string_view SpacedWords::without_end(std::string_view text) const {
  if (!only_spaces_) return text;
  for (;;) {
    if (!text.empty() && separates(text.back())) {
      text.remove_suffix(1);
    } else if (text.ends_with(space_mark)) {
      text.remove_suffix(space_mark.size());
    } else {
      return text;
    }
  }
}

void SpacedWords::normalise(std::string_view part, Scratch& scratch) const {
  scratch.normalised.clear();
  scratch.origins.clear();
  std::vector<Origin>* const origins = scratch.located ? &scratch.origins : nullptr;
  if (charsmap_) return charsmap_->apply(part, scratch.normalised, origins);
  scratch.normalised = part;
  if (origins == nullptr) return;
  for (std::size_t at = 0; at < part.size(); ++at) origins->push_back({at, at + 1});
}

void SpacedWords::for_each_word(std::string_view part, Scratch& scratch, const Take& take) const {
  normalise(part, scratch);
  only_spaces_ ? words_by_spaces(scratch, take) : words_by_white_space(scratch, take);
}

// The part has no blanks of ASCII: normalisation may bring some, and marks of spaces stand for them.
void SpacedWords::words_by_white_space(Scratch& scratch, const Take& take) const {
  const std::string_view normalised = scratch.normalised;
  GrowingWord word(scratch);
  for (std::size_t at = 0; at < normalised.size();) {
    word.begin();
    const std::size_t begin = at;
    while (at < normalised.size()) {
      const Character character = decode(normalised, at);
      const std::string_view raw = normalised.substr(at, character.length);
      if (is_sentencepiece_space(character.code) || (raw == space_mark && at > begin)) break;
      raw == space_mark ? word.begin_with_mark(at) : word.add(at, character.length);
      at += character.length;
    }
    if (at > begin) word.finish(take);
    if (at < normalised.size() && !normalised.substr(at).starts_with(space_mark)) at += decode(normalised, at).length;
  }
}

// A mark is a space that stays, whatever is beside it; of the others those between words become one.
void SpacedWords::words_by_spaces(Scratch& scratch, const Take& take) const {
  constexpr std::array space_or_mark{' ', space_mark.front(), '\0'};
  const std::string_view normalised = scratch.normalised;
  GrowingWord word(scratch);
  word.begin();
  const auto finish = [&] {
    if (!word.is_only_space() || word.has_mark()) word.finish(take);
    word.begin();
  };
  for (std::size_t at = 0; at < normalised.size();) {
    const std::string_view rest = normalised.substr(at);
    if (rest.front() == ' ') {
      finish();
      ++at;
    } else if (rest.starts_with(space_mark)) {
      word.finish(take);
      word.begin_with_mark(at);
      at += space_mark.size();
    } else {
      const std::size_t end = std::min(normalised.find_first_of(space_or_mark.data(), at + 1), normalised.size());
      word.add(at, end - at);
      at = end;
    }
  }
  finish();
}

bool SpacedWords::is_boundary(std::string_view text, std::size_t position) const {
  if (!only_spaces_) return is_basic_boundary(text, position);
  if (lines_are_apart()) return text[position - 1] == '\n';
  return separates(text[position]) && !separates(text[position - 1]) && !text.substr(0, position).ends_with(space_mark);
}

bool SpacedWords::maps_all_white_space() const {
  if (!only_spaces_) return true;
  std::string character, normalised;
  for (char32_t code = 0; code < detail::unicode_table_end; ++code) {
    if (!is_sentencepiece_space(code) || code == ' ') continue;
    character.clear();
    normalised.clear();
    append_utf8(character, code);
    if (!charsmap_) return false;
    charsmap_->apply(character, normalised);
    const bool is_removed = normalised.empty() && (code >= 0x80 || !is_ascii_blank(static_cast<char>(code)));
    if (normalised != " " && !is_removed) return false;
  }
  return true;
}

}  // namespace heddle::text
