#include "libcore/metrics/entities.hpp"

#include <algorithm>
#include <string_view>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

namespace {

// Parsed tag. The kind is B, I, E, S, or O for none.
struct Tag {
  char kind = 'O';
  std::string_view type;
};

char kind_of(char mark) {
  switch (mark) {
    case 'B':
    case 'I':
    case 'E':
    case 'S':
      return mark;
    case 'M':
      return 'I';
    case 'L':
      return 'E';
    case 'U':
    case 'W':
      return 'S';
    default:
      return 'O';
  }
}

bool separates(char letter) {
  return letter == '-' || letter == '_';
}

Tag parse(std::string_view name, Mark mark) {
  constexpr std::string_view without_type = "entity";
  if (name.size() == 1) return {kind_of(name[0]), without_type};
  if (name.size() < 3) return {};
  if (mark == Mark::first) return separates(name[1]) ? Tag{kind_of(name[0]), name.substr(2)} : Tag();
  const std::size_t end = name.size() - 2;
  return separates(name[end]) ? Tag{kind_of(name.back()), name.substr(0, end)} : Tag();
}

bool have_marks(std::span<const std::string> names, Mark mark) {
  const auto is_tag = [&](const std::string& name) { return name == "O" || parse(name, mark).kind != 'O'; };
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  const auto has_type = [](const std::string& name) { return name.size() > 1; };
  return std::ranges::all_of(names, is_tag) &&
         (std::ranges::any_of(names, has_type) || has("B") || (has("I") && has("O")));
}

}  // namespace

std::optional<Mark> mark_of_entities(std::span<const std::string> names) {
  if (have_marks(names, Mark::first)) return Mark::first;
  return have_marks(names, Mark::last) ? std::optional(Mark::last) : std::nullopt;
}

std::vector<Entity> entities(std::span<const std::string> tags, Mark mark) {
  std::vector<Entity> found;
  bool open = false;  // the last entity may continue
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const Tag tag = parse(tags[i], mark);
    if (tag.kind == 'O') {
      open = false;
      continue;
    }
    const auto word = static_cast<Index>(i);
    const bool begins = tag.kind == 'B' || tag.kind == 'S';
    if (!open || begins || tag.type != found.back().type) found.push_back({std::string(tag.type), word, word});
    found.back().end = word + 1;
    open = tag.kind == 'B' || tag.kind == 'I';
  }
  return found;
}

void add_entities(std::span<const std::string> gold, std::span<const std::string> predicted, EntityMatches& matches,
                  Mark mark) {
  check<UsageError>(gold.size() == predicted.size(), gold.size(), " gold tags and ", predicted.size(),
                    " predicted ones");
  const std::vector<Entity> right = entities(gold, mark), guesses = entities(predicted, mark);
  for (const Entity& entity : right) ++matches[entity.type].gold;
  for (const Entity& guess : guesses) {
    Matches& of_type = matches[guess.type];
    ++of_type.predicted;
    // Both lists are in order, so that there is one place where the entity can be.
    const auto same = std::ranges::lower_bound(right, guess.begin, {}, &Entity::begin);
    if (same != right.end() && *same == guess) ++of_type.correct;
  }
}

Matches total(const EntityMatches& matches) {
  Matches sum;
  for (const auto& [type, of_type] : matches) sum += of_type;
  return sum;
}

EntityReport report(const EntityMatches& matches) {
  EntityReport result{.all = scores_of(total(matches)), .types = {}};
  for (const auto& [type, of_type] : matches) result.types.entries.emplace_back(type, scores_of(of_type));
  return result;
}

}  // namespace heddle::metrics
