#include "libcore/metrics/entities.hpp"

#include <algorithm>
#include <string_view>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

namespace {

bool marks_word(std::string_view tag) {
  return tag.starts_with("B-") || tag.starts_with("I-");
}

}  // namespace

bool mark_entities(std::span<const std::string> names) {
  return std::ranges::all_of(names, [](const auto& name) { return name == "O" || marks_word(name); }) &&
         std::ranges::any_of(names, marks_word);
}

std::vector<Entity> entities(std::span<const std::string> tags) {
  std::vector<Entity> found;
  bool open = false;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::string_view tag = tags[i];
    if (!marks_word(tag)) {
      open = false;
      continue;
    }
    const std::string_view type = tag.substr(2);
    const auto word = static_cast<Index>(i);
    if (!open || tag.front() == 'B' || type != found.back().type) found.push_back({std::string(type), word, word});
    found.back().end = word + 1;
    open = true;
  }
  return found;
}

void add_entities(std::span<const std::string> gold, std::span<const std::string> predicted, EntityMatches& matches) {
  check<UsageError>(gold.size() == predicted.size(), gold.size(), " gold tags and ", predicted.size(),
                    " predicted ones");
  const std::vector<Entity> right = entities(gold), guesses = entities(predicted);
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
