#include "tools/tasks/data_warnings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <unordered_set>

#include "formats/files/checksum.hpp"
#include "formats/heddle/file.hpp"
#include "libcore/base/values.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle {

namespace {

using models::Answer;
using models::Answered;
// Whether the name is one of those, in any case.
bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, text::in_lower_case(name)) != names.end();
}

bool was_trained_on(const std::string& xxh128, const formats::Provenance& provenance) {
  const auto read_it = [&](const formats::ProvenanceStep& step) {
    return std::ranges::any_of(step.inputs, [&](const formats::ProvenanceInput& input) {
      return input.role.starts_with("train") && input.xxh128 == xxh128;
    });
  };
  return read_it(provenance.own) || std::ranges::any_of(provenance.earlier, read_it);
}

}  // namespace

std::optional<std::string> header_warning(const TaskData& data, const formats::LabelledInput& input) {
  if (input.header != formats::Header::automatic || data.texts.empty() || data.texts.front().line != 1) {
    return std::nullopt;
  }
  const data::LabelledText& first = data.texts.front();
  if (!data::is_name_of_labels(first.label) ||
      !is_one_of(first.text, {"text", "texts", "sentence", "sentences", "sentence1", "text_a", "review", "comment",
                              "message", "question", "title", "content", "document", "tweet"})) {
    return std::nullopt;
  }
  return concatenate(data.file, ":1: ", shown(first.label), " and ", shown(first.text),
                     " look like names of columns, and are read as an example; --header takes them as names");
}

std::optional<std::string> quoted_texts_warning(const TaskData& data, const formats::LabelledInput& input) {
  const auto is_quoted = [](const data::LabelledText& example) {
    return example.text.size() >= 2 && example.text.starts_with('"') && example.text.ends_with('"');
  };
  const bool is_tsv = formats::labelled_format(data.file, input) == formats::LabelledFormat::tsv;
  if (!is_tsv || input.format.syntax().quote || data.texts.empty() || !std::ranges::all_of(data.texts, is_quoted))
    return std::nullopt;
  return concatenate(
      data.file, ":", data.texts.front().line,
      ": the texts are in quotes, which are read as part of them; --format tsv:quote=double removes them");
}

std::optional<std::string> empty_texts_warning(const TaskData& data) {
  const auto is_empty = [](const data::LabelledText& example) {
    return text::is_blank(example.text) && (!example.second_text || text::is_blank(*example.second_text));
  };
  const auto first = std::ranges::find_if(data.texts, is_empty);
  if (first == data.texts.end()) return std::nullopt;
  const auto count = static_cast<Index>(std::ranges::count_if(data.texts, is_empty));
  return concatenate(data.file, ":", first->line, ": the text is empty",
                     count == 1 ? "" : concatenate(", as in ", count, " of ", data.texts.size(), " examples"));
}

std::optional<std::string> trained_on_warning(const std::string& file, const std::vector<std::string>& models) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return std::nullopt;
  const std::string content = formats::checksum_file(file).xxh128;
  for (const std::string& model : models) {
    if (was_trained_on(content, formats::InputFile(model).provenance()))
      return concatenate(file, ": ", model, " was trained on this file; on other examples it is not as good");
  }
  return std::nullopt;
}

std::optional<std::string> known_texts_warning(const TaskData& data, const std::string& model,
                                               const models::TaskConfig& task) {
  if (task.text_keys.empty()) return std::nullopt;
  const bool are_all = task.text_keys.size() < most_text_keys;
  std::unordered_set<std::uint64_t> known;
  for (const Index key : task.text_keys) known.insert(static_cast<std::uint64_t>(key));
  const std::uint64_t most = are_all ? std::numeric_limits<std::uint64_t>::max() : *std::ranges::max_element(known);
  double comparable = 0, copies = 0;
  for (const data::Unit& unit : units_of(data)) {
    comparable += unit.key <= most ? 1 : 0;
    copies += known.contains(unit.key) ? 1 : 0;
  }
  if (copies == 0) return std::nullopt;
  const auto count = static_cast<Index>(std::round(copies / comparable * static_cast<double>(data.size())));
  return concatenate(data.file, ": ", are_all ? "" : "about ", count, " of ",
                     counted(data.size(), "example is", "examples are"),
                     data.questions.empty() ? " in" : " on contexts of", " the training data of ", model,
                     "; on these its results are too good");
}

std::optional<std::string> many_classes_warning(const TaskData& data, const data::LabelSet& labels) {
  constexpr Index usual = 10;
  if (labels.size() <= usual || labels.size() * usual <= data.size()) return std::nullopt;
  return concatenate(data.file, ": ", labels.size(), " classes for ", counted(data.size(), "example", "examples"),
                     ", such as ", shown(labels.name(0)), "; if these are texts, ", data::swapped_columns);
}

std::optional<std::string> numeric_classes_warning(const std::string& file, const data::LabelSet& labels) {
  constexpr Index usual = 10;
  const auto is_number = [](const std::string& name) {
    double value = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    return error == std::errc() && end == name.data() + name.size();
  };
  if (labels.size() <= usual || !std::ranges::all_of(labels.names(), is_number)) return std::nullopt;
  return concatenate(file, ": the ", labels.size(),
                     " labels are all numbers, and read as classes; --task regress "
                     "learns numbers");
}

std::optional<std::string> alike_labels_warning(const std::string& file, const data::LabelSet& labels) {
  std::map<std::string, std::string> known;  // keyed by lower case
  for (const std::string& name : labels.names()) {
    const auto [other, is_new] = known.emplace(text::in_lower_case(name), name);
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
  const char* const claim =
      valid.questions.empty() ? " in the training data too; their " : " on contexts of the training data; their ";
  return concatenate(valid.file, ": ", copies, " of ", counted(valid.size(), "example is", "examples are"), claim,
                     "results are too good");
}

std::optional<std::string> small_validation_warning(const TaskData& valid, models::Task task) {
  constexpr Index enough = 200, least = 5;
  Index count = valid.size();
  for (const data::TaggedSentence& sentence : valid.sentences) count += static_cast<Index>(sentence.words.size()) - 1;
  if (count >= enough) return std::nullopt;
  const auto n = static_cast<double>(std::max(count, least));
  const bool correlates = answer_of(task) == Answer::number;
  const double chance = correlates ? 1.96 / std::sqrt(n - 3) : 0.98 / std::sqrt(n);
  return concatenate(valid.file, ": ", counted(count, "example", "examples"), " to choose by: chance alone ", "moves ",
                     correlates ? "a correlation" : "an accuracy", " by up to ", format_fixed(std::min(chance, 1.0), 2),
                     "; --folds uses all examples in turn");
}

std::optional<std::string> missing_classes_warning(const TaskData& valid, models::Task task,
                                                   const data::LabelSet& labels) {
  if (labels.size() < 3 || answered_by(task) == Answered::parts) return std::nullopt;
  const std::vector<Index> counts = label_counts_in(valid, task, labels);
  std::vector<std::string> missing;
  for (Index id = 0; id < labels.size(); ++id) {
    if (counts[static_cast<std::size_t>(id)] == 0) missing.push_back(shown(labels.name(id)));
  }
  if (missing.empty() || static_cast<Index>(missing.size()) > labels.size() - 2) return std::nullopt;
  return concatenate(valid.file, ": has no example of ", join_first(missing, 5), " for validation");
}

std::optional<std::string> one_label_warning(const TaskData& valid, models::Task task, const data::LabelSet& labels) {
  if (has_label_sets(task) || labels.size() < 2 || valid.size() < 2 || labels_in(valid, task).size() != 1)
    return std::nullopt;
  const std::vector<Index> counts = label_counts_in(valid, task, labels);
  if (std::ranges::count(counts, 0) != labels.size() - 1) return std::nullopt;
  const auto only = std::ranges::find_if(counts, [](Index count) { return count > 0; }) - counts.begin();
  return concatenate(valid.file, ": the ", counted(valid.size(), "example", "examples"), " all have the label ",
                     shown(labels.name(only)), "; models are judged by all labels");
}

std::optional<std::string> unknown_labels_warning(const TaskData& data, models::Task task,
                                                  const data::LabelSet& labels) {
  const bool of_words = answered_by(task) == Answered::parts;
  if (labels_in(data, task).size() == 0) return std::nullopt;
  Index all = 0, unknown = 0, line = 0;
  std::string first;
  const auto add = [&](const std::string& name, Index at) {
    ++all;
    if (labels.find(name) || unknown++ > 0) return;
    first = name;
    line = at;
  };
  for (const data::LabelledText& text : data.texts) {
    if (!has_label_sets(task)) add(text.label, text.line);
    for (const std::string& label : text.labels) add(label, text.line);
  }
  for (const data::TaggedSentence& sentence : data.sentences) {
    for (std::size_t w = 0; w < sentence.tags.size(); ++w) add(sentence.tags[w], sentence.lines[w]);
  }
  if (unknown == 0) return std::nullopt;
  const std::string problem = labels.unknown(first, data.file, line);
  check<DataError>(unknown < all && !(line == 1 && data::is_name_of_labels(first)), problem);
  return concatenate(problem, problem.ends_with('?') ? " " : "; ", unknown, " of ",
                     has_label_sets(task) ? counted(all, "label", "labels")
                     : of_words           ? counted(all, "word", "words")
                                          : counted(all, "example", "examples"),
                     has_label_sets(task) ? (unknown == 1 ? " is one" : " are ones")
                                          : (unknown == 1 ? " has a label" : " have a label"),
                     " that the model cannot give, and ", unknown == 1 ? "counts" : "count", " as wrong");
}

std::optional<std::string> numbered_words_warning(const TaskData& data) {
  if (data.graphs != nullptr) return std::nullopt;
  Index pairs = 0;
  for (const data::TaggedSentence& sentence : data.sentences) {
    std::optional<Index> last;
    for (const std::string& word : sentence.words) {
      Index number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      const bool is_number = error == std::errc() && end == word.data() + word.size();
      if (!is_number || (last && number != *last + 1)) return std::nullopt;
      pairs += last ? 1 : 0;
      last = number;
    }
  }
  if (pairs == 0) return std::nullopt;
  return concatenate(data.file, ":", data.sentences.front().lines.front(),
                     ": the words are running numbers; --text-column says which column has the words");
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

std::optional<metrics::FoundTags> scheme_of(const TaskData& data) {
  if (data.graphs != nullptr) return std::nullopt;
  std::vector<std::span<const std::string>> sentences;
  for (const data::TaggedSentence& sentence : data.sentences) sentences.emplace_back(sentence.tags);
  return metrics::find_scheme(sentences);
}

std::string name_of_scheme(metrics::TagScheme scheme) {
  std::string name = to_text(scheme);
  for (char& letter : name) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return name;
}

std::optional<std::string> wrong_tags_warning(const TaskData& data) {
  const std::optional<metrics::FoundTags> found = scheme_of(data);
  if (!found || found->wrong == 0) return std::nullopt;
  const Index line = data.sentences[found->sentence].lines[found->word];
  return concatenate(data.file, ":", line, ": ", found->first_wrong, " breaks the rules of ",
                     name_of_scheme(found->scheme), ", which the tags are read as",
                     found->wrong == 1 ? "" : concatenate("; ", grouped(found->wrong), " tags do"),
                     " (convert --tags mends them)");
}

std::optional<std::string> other_scheme_warning(const TaskData& train, const TaskData& valid) {
  const std::optional<metrics::FoundTags> first = scheme_of(train), second = scheme_of(valid);
  if (!first || !second || first->scheme == second->scheme) return std::nullopt;
  return concatenate(valid.file, ": the tags are ", name_of_scheme(second->scheme), ", and those of ", train.file, " ",
                     name_of_scheme(first->scheme), "; convert --tags makes them alike");
}

std::optional<std::string> numbered_tags_warning(const TaskData& data) {
  if (data.graphs != nullptr || data.sentences.empty()) return std::nullopt;
  for (const data::TaggedSentence& sentence : data.sentences) {
    for (const std::string& tag : sentence.tags) {
      if (tag.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    }
  }
  if (data.sentences.front().tags.empty()) return std::nullopt;
  return concatenate(data.file, ":", data.sentences.front().lines.front(),
                     ": the tags are numbers, and mark no entities; --format jsonl:tags='O B-PER ...' names them");
}

std::optional<std::string> widened_entities_warning(const TaskData& data) {
  Index count = 0, line = 0;
  for (const data::TaggedSentence& sentence : data.sentences) {
    if (count == 0 && sentence.widened > 0) line = sentence.lines.front();
    count += sentence.widened;
  }
  if (count == 0) return std::nullopt;
  return concatenate(data.file, ":", line, ": an entity begins or ends within a word, and gets all of it",
                     count == 1 ? "" : concatenate(", as do ", grouped(count), " entities in all"));
}

}  // namespace heddle
