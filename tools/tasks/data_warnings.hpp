// Warnings of likely slips in labelled data: one line each, or nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/metrics/tag_scheme.hpp"
#include "libcore/text/spelling.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

using text::shown;

// More classes than a tenth of the examples, and more than ten: the columns may be swapped.
std::optional<std::string> many_classes_warning(const TaskData& data, const data::LabelSet& labels);

// The classes are all numbers, and more than ten: numbers may be what is to be learned.
std::optional<std::string> numeric_classes_warning(const std::string& file, const data::LabelSet& labels);

// The first line of a table without a header looks like one: its fields are names that columns have.
std::optional<std::string> header_warning(const TaskData& data, const formats::LabelledInput& input);

// All texts of a TSV are in quotes, which it does not remove by default.
std::optional<std::string> quoted_texts_warning(const TaskData& data, const formats::LabelledInput& input);

// Texts without a word in them.
std::optional<std::string> empty_texts_warning(const TaskData& data);

// One of the files that the models, by their paths, were trained on is this one, as their provenance has it.
std::optional<std::string> trained_on_warning(const std::string& file, const std::vector<std::string>& models);

// How many examples have copies among the training texts of a model, of a path; with many training texts, an estimate
// from those whose hashes the model keeps.
std::optional<std::string> known_texts_warning(const TaskData& data, const std::string& model,
                                               const models::TaskConfig& task);

// Two labels that are the same in lower case.
std::optional<std::string> alike_labels_warning(const std::string& file, const data::LabelSet& labels);

// How many examples of the second have copies in the first (units_of).
std::optional<std::string> copies_warning(const TaskData& train, const TaskData& valid);

// Fewer than 200 examples to choose by, and how far chance alone moves the metric: a fraction of n examples by up to
// 0.98 / sqrt(n) (95 % of a binomial distribution, at most), a correlation by 1.96 / sqrt(n - 3) (Fisher).
std::optional<std::string> small_validation_warning(const TaskData& valid, models::Task task);

// Classes of which there is no example to judge by, though there are examples of two or more.
std::optional<std::string> missing_classes_warning(const TaskData& valid, models::Task task,
                                                   const data::LabelSet& labels);

// All of several examples to judge by have one label.
std::optional<std::string> one_label_warning(const TaskData& valid, models::Task task, const data::LabelSet& labels);

// Gold labels that are none of the model's, which count as wrong. Throws DataError that names the first where all of
// them are, or where it looks like the name of a column.
std::optional<std::string> unknown_labels_warning(const TaskData& data, models::Task task,
                                                  const data::LabelSet& labels);

// Sentences whose words are running numbers: those of another column may be meant.
std::optional<std::string> numbered_words_warning(const TaskData& data);

// A word with three blanks or more: it is a sentence.
std::optional<std::string> long_word_warning(const TaskData& data);

// Tags that break the rules of the scheme by which the others mark entities, and how many do.
std::optional<std::string> wrong_tags_warning(const TaskData& data);

// The second marks entities by another scheme than the first.
std::optional<std::string> other_scheme_warning(const TaskData& train, const TaskData& valid);

// Tags that are numbers, as data sets have them that name them elsewhere.
std::optional<std::string> numbered_tags_warning(const TaskData& data);

// Entities that began or ended within a word, and got all of it.
std::optional<std::string> widened_entities_warning(const TaskData& data);

// The scheme of the tags, nothing if they mark no entities.
std::optional<metrics::FoundTags> scheme_of(const TaskData& data);
// "IOB2".
std::string name_of_scheme(metrics::TagScheme scheme);

}  // namespace heddle
