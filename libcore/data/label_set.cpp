#include "libcore/data/label_set.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::data {

namespace {

// The names, shortened where there are many.
std::string listed(std::vector<std::string> names) {
  for (std::string& name : names) name = text::shortened(name);
  return join_first(std::move(names), 20);
}

}  // namespace

bool is_name_of_labels(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{"label",     "labels", "class", "category",
                                                  "sentiment", "target", "score", "tag"};
  return std::ranges::find(names, text::in_lower_case(name)) != names.end();
}

LabelSet::LabelSet(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) {
    check<DataError>(!name.empty(), "a label must not be empty");
    check<DataError>(is_printable(name), "the label '", name, "' is not UTF-8 text without control characters");
    check<DataError>(ids_.emplace(name, static_cast<Index>(ids_.size())).second, "the label '", name, "' comes twice");
  }
}

std::optional<Index> LabelSet::find(std::string_view name) const {
  const auto found = ids_.find(std::string(name));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

Index LabelSet::id(std::string_view name, std::string_view file, Index line) const {
  if (const std::optional<Index> known = find(name)) return *known;
  throw DataError(unknown(name, file, line));
}

std::string LabelSet::unknown(std::string_view name, std::string_view file, Index line) const {
  const std::string near = name.size() < 3 ? "" : nearest(name, names_);  // any other letter is near
  const bool is_sentence = std::ranges::count(name, ' ') >= 3;
  return concatenate(file, ":", line, ": unknown label ", text::shown(name), "; the model has ", listed(names_),
                     near.empty() ? "" : "; did you mean '" + near + "'?",
                     is_sentence ? concatenate("; if it is a text, ", swapped_columns) : "",
                     line == 1 && is_name_of_labels(name) ? "; `header` takes line 1 as names of columns" : "");
}

LabelSet labels_of(std::span<const LabelledText> examples) {
  std::set<std::string> names;
  for (const LabelledText& example : examples) names.insert(example.label);
  return LabelSet({names.begin(), names.end()});
}

LabelSet labels_of(std::span<const TaggedSentence> sentences) {
  std::set<std::string> names;
  for (const TaggedSentence& sentence : sentences) names.insert(sentence.tags.begin(), sentence.tags.end());
  return LabelSet({names.begin(), names.end()});
}

LabelSet labels_in_sets_of(std::span<const LabelledText> examples) {
  std::set<std::string> names;
  for (const LabelledText& example : examples) names.insert(example.labels.begin(), example.labels.end());
  return LabelSet({names.begin(), names.end()});
}

std::vector<Index> label_ids(std::span<const LabelledText> examples, const LabelSet& labels, std::string_view file) {
  std::vector<Index> ids;
  for (const LabelledText& example : examples) ids.push_back(labels.id(example.label, file, example.line));
  return ids;
}

std::vector<Index> tag_ids(const TaggedSentence& sentence, const LabelSet& labels, std::string_view file) {
  std::vector<Index> ids;
  for (std::size_t i = 0; i < sentence.tags.size(); ++i) {
    ids.push_back(labels.id(sentence.tags[i], file, sentence.lines[i]));
  }
  return ids;
}

std::vector<double> numeric_labels(std::span<const LabelledText> examples, std::string_view file) {
  std::vector<double> numbers;
  for (const LabelledText& example : examples) {
    const char *const begin = example.label.data(), *const end = begin + example.label.size();
    double number = 0;
    const auto [rest, error] = std::from_chars(begin, end, number);
    check<DataError>(error == std::errc() && rest == end && std::isfinite(number), file, ":", example.line,
                     ": the label '", example.label, "' is not a finite number");
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<Index> label_counts(std::span<const Index> ids, const LabelSet& labels) {
  std::vector<Index> counts(static_cast<std::size_t>(labels.size()));
  for (const Index id : ids) ++counts[static_cast<std::size_t>(id)];
  return counts;
}

std::vector<std::string> label_warnings(std::span<const Index> counts, const LabelSet& labels, std::string_view file) {
  std::vector<std::string> none, single, warnings;
  for (Index id = 0; id < labels.size(); ++id) {
    const Index count = counts[static_cast<std::size_t>(id)];
    if (count <= 1) (count == 0 ? none : single).push_back(labels.name(id));
  }
  if (!none.empty()) warnings.push_back(concatenate(file, ": no example of ", listed(none)));
  if (!single.empty())
    warnings.push_back(
        concatenate(file, ": only one example ", single.size() > 1 ? "each " : "", "of ", listed(single)));
  return warnings;
}

}  // namespace heddle::data
