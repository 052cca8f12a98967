#include "tools/tasks/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "heddle/text/unicode.hpp"

namespace heddle {

namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower;
  for (std::size_t at = 0; at < text.size();) {
    const text::Character character = text::decode(text, at);
    text::append_utf8(lower, text::to_lower(character.code));
    at += character.length;
  }
  return lower;
}

}  // namespace

std::optional<std::string> many_classes_warning(const TaskData& data, const data::LabelSet& labels) {
  constexpr Index usual = 10;
  if (labels.size() <= usual || labels.size() * usual <= data.size()) return std::nullopt;
  return concatenate(data.file, ": ", labels.size(), " classes for ", counted(data.size(), "example", "examples"),
                     ", such as ", shown(labels.name(0)), "; if these are texts, ", data::swapped_columns);
}

std::optional<std::string> alike_labels_warning(const std::string& file, const data::LabelSet& labels) {
  std::map<std::string, std::string> known;  // by lower case
  for (const std::string& name : labels.names()) {
    const auto [other, is_new] = known.emplace(in_lower_case(name), name);
    if (is_new) continue;
    return concatenate(file, ": the labels ", shown(other->second), " and ", shown(name), " differ in case alone");
  }
  return std::nullopt;
}

std::optional<std::string> copies_warning(const TaskData& train, const TaskData& valid) {
  std::unordered_set<std::uint64_t> known;
  for (const data::Unit& unit : units_of(train)) known.insert(unit.key);
  const std::vector<data::Unit> units = units_of(valid);
  const auto copies = std::ranges::count_if(units, [&](const data::Unit& unit) { return known.contains(unit.key); });
  if (copies == 0) return std::nullopt;
  const char* const what =
      valid.questions.empty() ? " in the training data too; their " : " on contexts of the training data; their ";
  return concatenate(valid.file, ": ", copies, " of ", counted(valid.size(), "example is", "examples are"), what,
                     "results are too good");
}

std::optional<std::string> small_validation_warning(const TaskData& valid, models::Task task) {
  constexpr Index enough = 200, least = 5;
  Index count = valid.size();
  for (const data::TaggedSentence& sentence : valid.sentences) count += static_cast<Index>(sentence.words.size()) - 1;
  if (count >= enough) return std::nullopt;
  const auto n = static_cast<double>(std::max(count, least));
  const bool correlates = task == models::Task::regress;
  const double chance = correlates ? 1.96 / std::sqrt(n - 3) : 0.98 / std::sqrt(n);
  return concatenate(valid.file, ": ", counted(count, "example", "examples"),
                     " to choose the best model by: chance alone ", "moves ",
                     correlates ? "a correlation" : "an accuracy", " by up to ",
                     fmt::format("{:.2f}", std::min(chance, 1.0)), "; --folds uses all examples in turn");
}

std::optional<std::string> one_label_warning(const TaskData& valid, models::Task task, const data::LabelSet& labels) {
  if (labels.size() < 2 || valid.size() < 2) return std::nullopt;
  const std::vector<Index> counts = label_counts_in(valid, task, labels);
  if (std::ranges::count(counts, 0) != labels.size() - 1) return std::nullopt;
  const auto only = std::ranges::find_if(counts, [](Index count) { return count > 0; }) - counts.begin();
  return concatenate(valid.file, ": the ", counted(valid.size(), "example", "examples"),
                     " for validation all have the label ", shown(labels.name(only)),
                     "; models are judged by all labels");
}

std::optional<std::string> long_word_warning(const TaskData& data) {
  for (const data::TaggedSentence& sentence : data.sentences) {
    for (std::size_t w = 0; w < sentence.words.size(); ++w) {
      if (std::ranges::count(sentence.words[w], ' ') < 3) continue;
      return concatenate(data.file, ":", sentence.lines[w], ": ", shown(sentence.words[w]),
                         " is taken as one word; each word has a line of its own");
    }
  }
  return std::nullopt;
}

}  // namespace heddle
