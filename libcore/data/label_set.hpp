// The names of classes or tags, and their ids.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::data {

// Ends a message about a label that looks like a text.
inline constexpr const char* swapped_columns = "the columns are swapped: `label_column` and `text_column` name them";

// Whether a column of labels often has this name, in upper or lower case.
bool is_name_of_labels(std::string_view name);

class LabelSet {
 public:
  LabelSet() = default;
  // Ids are indices into the list. Throws DataError for names that are empty or repeated.
  explicit LabelSet(std::vector<std::string> names);

  Index size() const { return static_cast<Index>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  // Precondition: 0 <= id < size().
  const std::string& name(Index id) const { return names_[static_cast<std::size_t>(id)]; }
  std::optional<Index> find(std::string_view name) const;
  // "FILE:LINE: unknown label 'spma'; the model has ham, spam; did you mean 'spam'?"
  std::string unknown(std::string_view name, std::string_view file, Index line) const;
  // Throws DataError with that text for a label that is not in the set.
  Index id(std::string_view name, std::string_view file, Index line) const;

  bool operator==(const LabelSet& other) const { return names_ == other.names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, Index> ids_;
};

// All labels that occur, in the order of their bytes, so that the set does not depend on the order of examples.
LabelSet labels_of(std::span<const LabelledText> examples);
LabelSet labels_of(std::span<const TaggedSentence> sentences);
// The same for texts with any number of labels each.
LabelSet labels_in_sets_of(std::span<const LabelledText> examples);

// The label of each example. The file is for messages. Throw DataError for unknown ones.
std::vector<Index> label_ids(std::span<const LabelledText> examples, const LabelSet& labels, std::string_view file);
std::vector<Index> tag_ids(const TaggedSentence& sentence, const LabelSet& labels, std::string_view file);

// The labels as numbers. Throws DataError for one that is not a finite number.
std::vector<double> numeric_labels(std::span<const LabelledText> examples, std::string_view file);

// The number of examples of each label.
std::vector<Index> label_counts(std::span<const Index> ids, const LabelSet& labels);

// Warnings, one line each: labels without an example, or with a single one.
std::vector<std::string> label_warnings(std::span<const Index> counts, const LabelSet& labels, std::string_view file);

}  // namespace heddle::data
