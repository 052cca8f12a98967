#include "libcore/metrics/tag_scheme.hpp"

#include <set>

#include "libcore/base/strings.hpp"

namespace heddle::metrics {

namespace {

// The letters of the first, a middle, the last and the only word of an entity.
struct Letters {
  char first, middle, last, only;
};

Letters letters_of(TagScheme scheme) {
  switch (scheme) {
    case TagScheme::iob1:
      return {'I', 'I', 'I', 'I'};
    case TagScheme::iob2:
      return {'B', 'I', 'I', 'B'};
    case TagScheme::iobes:
      return {'B', 'I', 'E', 'S'};
    case TagScheme::bilou:
      return {'B', 'I', 'L', 'U'};
    case TagScheme::bmes:
      break;
  }
  return {'B', 'M', 'E', 'S'};
}

struct LetterAndType {
  char letter = 'O';
  std::string_view type;
};

LetterAndType parts_of_tag(std::string_view tag, Mark mark) {
  if (tag.size() < 3) return {tag.empty() ? 'O' : tag[0], {}};
  if (mark == Mark::first) return {tag[0], tag.substr(2)};
  return {tag.back(), tag.substr(0, tag.size() - 2)};
}

// Whether the scheme lets a tag follow another one, or O at the beginning of a sentence.
bool may_follow(const LetterAndType& before, const LetterAndType& tag, TagScheme scheme) {
  const bool is_same = before.letter != 'O' && before.type == tag.type;
  if (scheme == TagScheme::iob1) return tag.letter != 'B' || is_same;
  if (scheme == TagScheme::iob2) return tag.letter != 'I' || is_same;
  const Letters letters = letters_of(scheme);
  const auto is_inner = [&](char letter) { return letter == letters.middle || letter == letters.last; };
  const bool is_open = before.letter == letters.first || before.letter == letters.middle;
  return is_open ? is_inner(tag.letter) && is_same : !is_inner(tag.letter);
}

// The wrong tags of one scheme.
void count_wrong(std::span<const std::span<const std::string>> sentences, FoundTags& found) {
  const bool closes = found.scheme != TagScheme::iob1 && found.scheme != TagScheme::iob2;
  const auto add = [&](const std::string& tag, const std::string& before, std::size_t sentence, std::size_t word) {
    if (found.wrong++ > 0) return;
    found.first_wrong = tag + " after " + before;
    found.sentence = sentence;
    found.word = word;
  };
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    const std::span<const std::string> tags = sentences[s];
    LetterAndType before;
    for (std::size_t w = 0; w < tags.size(); ++w) {
      const LetterAndType tag = parts_of_tag(tags[w], found.style.mark);
      if (!may_follow(before, tag, found.scheme)) add(tags[w], w == 0 ? "the beginning" : tags[w - 1], s, w);
      before = tag;
    }
    const bool is_last_wrong = closes && !tags.empty() && !may_follow(before, {}, found.scheme);
    if (is_last_wrong) add("the end", tags.back(), s, tags.size() - 1);
  }
}

}  // namespace

std::optional<FoundTags> find_scheme(std::span<const std::span<const std::string>> sentences) {
  std::set<std::string> different;
  for (const std::span<const std::string> tags : sentences) different.insert(tags.begin(), tags.end());
  const std::vector<std::string> names(different.begin(), different.end());
  const std::optional<Mark> mark = mark_of_entities(names);
  if (!mark) return std::nullopt;
  FoundTags found;
  found.style = {*mark, '-', false};
  std::set<char> letters;
  for (const std::string& name : names) {
    letters.insert(parts_of_tag(name, *mark).letter);
    if (name.size() < 3) continue;
    found.style.has_types = true;
    found.style.separator = *mark == Mark::first ? name[1] : name[name.size() - 2];
  }
  const auto has = [&](char letter) { return letters.contains(letter); };
  const bool has_ends = has('E') || has('S') || has('L') || has('U');
  if (has('M') || has('W'))
    found.scheme = TagScheme::bmes;
  else if (has('L') || has('U'))
    found.scheme = TagScheme::bilou;
  else if (has_ends)
    found.scheme = TagScheme::iobes;
  count_wrong(sentences, found);
  if (found.scheme != TagScheme::iob2 || found.wrong == 0) return found;
  FoundTags other = found;
  other.scheme = TagScheme::iob1;
  other.wrong = 0;
  count_wrong(sentences, other);
  return other.wrong < found.wrong ? other : found;
}

std::vector<std::string> tags_of(std::span<const Entity> entities, Index words, TagScheme scheme,
                                 const TagStyle& style) {
  std::vector<std::string> tags(static_cast<std::size_t>(words), "O");
  const Letters letters = letters_of(scheme);
  const Entity* before = nullptr;
  for (const Entity& entity : entities) {
    const bool touches = before != nullptr && before->end == entity.begin && before->type == entity.type;
    for (Index w = entity.begin; w < entity.end; ++w) {
      const bool is_first = w == entity.begin, is_last = w + 1 == entity.end;
      char letter = is_first && is_last ? letters.only
                    : is_first          ? letters.first
                    : is_last           ? letters.last
                                        : letters.middle;
      if (scheme == TagScheme::iob1 && is_first && touches) letter = 'B';
      std::string& tag = tags[static_cast<std::size_t>(w)];
      tag = std::string(1, letter);
      if (!style.has_types) continue;
      tag = style.mark == Mark::first ? concatenate(letter, style.separator, entity.type)
                                      : concatenate(entity.type, style.separator, letter);
    }
    before = &entity;
  }
  return tags;
}

}  // namespace heddle::metrics
