#include "tools/tasks/prediction_file.hpp"

#include <algorithm>

#include "formats/archives/json_archive.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/object_line.hpp"
#include "tools/tasks/label_sets.hpp"

namespace heddle {

namespace {

using formats::Json;

std::string field(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? escaped_field(value.get<std::string>()) : concatenate(value.get<double>());
}

// Rows of named values, as lines of either format.
class Rows {
 public:
  Rows(std::ostream& out, PredictionFormat format) : out_(out), format_(format) {}

  // The names of the first row are the header.
  void add(const Json& row, const std::string& more = "") {
    if (format_ == PredictionFormat::jsonl) {
      out_ << object_line(row, more) << "\n";
      return;
    }
    std::string names, values;
    for (const auto& [name, value] : row.items()) {
      names += (names.empty() ? "" : "\t") + name;
      values += (&value == &row.front() ? "" : "\t") + field(value);
    }
    if (!std::exchange(has_header_, true)) out_ << names << "\n";
    out_ << values << "\n";
  }

 private:
  std::ostream& out_;
  PredictionFormat format_;
  bool has_header_ = false;
};

void add_fold(Json& row, const PredictionOptions& options, std::size_t example) {
  if (!options.folds.empty()) row["fold"] = options.folds[example] + 1;
}

void add_labels(Json& row, const data::LabelledText& text, const data::LabelSet& labels,
                const LabelProbabilities& given, std::size_t example, PredictionFormat format) {
  const std::vector<double>& probabilities = given.of_texts[example];
  std::vector<std::string> names;
  for (const Index id : given_labels(probabilities, given.thresholds)) names.push_back(labels.name(id));
  const bool is_table = format == PredictionFormat::tsv;
  row["gold"] = is_table ? Json(join(text.labels, ";")) : Json(text.labels);
  row["predicted"] = is_table ? Json(join(names, ";")) : Json(names);
  for (std::size_t label = 0; !is_table && label < probabilities.size(); ++label)
    row["probabilities"][labels.name(static_cast<Index>(label))] = probabilities[label];
}

void write_texts(Rows& rows, const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses,
                 const PredictionOptions& options) {
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    const data::LabelledText& text = data.texts[i];
    Json row{{text.name.empty() ? "text" : "id", text.shown()}};
    if (text.second_text) row["text_b"] = *text.second_text;
    if (!guesses.numbers.empty()) {
      row["gold"] = data::numeric_labels({&text, 1}, data.file).front();
      row["predicted"] = guesses.numbers[i];
    } else if (!guesses.labels.of_texts.empty()) {
      add_labels(row, text, labels, guesses.labels, i, options.format);
    } else {
      const auto& [best, probability] = guesses.classes[i];
      row["gold"] = text.label;
      row["predicted"] = probability >= options.threshold ? Json(labels.name(best)) : Json();
      row["probability"] = probability;
    }
    add_fold(row, options, i);
    rows.add(row, text.more);
  }
}

// The members of one word.
Json word_row(const std::string& word, const std::string& gold, std::optional<Index> tag,
              const std::optional<Guess>& guess, const data::LabelSet& labels) {
  return {{"word", word},
          {"gold", gold},
          {"predicted", tag ? Json(labels.name(*tag)) : Json()},
          {"probability", guess ? Json(guess->probability) : Json()}};
}

void write_sentences(Rows& rows, const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses,
                     const PredictionOptions& options) {
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const data::TaggedSentence& sentence = data.sentences[s];
    const std::vector<std::optional<Index>> tags = predicted_tags(guesses.tags[s], labels);
    Json whole{{"words", Json::array()}, {"gold", Json::array()}};
    if (data.graphs != nullptr) whole["graph"] = sentence.lines.front();
    for (std::size_t w = 0; w < tags.size(); ++w) {
      const Json word = word_row(sentence.words[w], sentence.tags[w], tags[w], guesses.tags[s][w], labels);
      if (options.format == PredictionFormat::tsv) {
        Json row = data.graphs != nullptr ? Json{{"graph", sentence.lines[w]}} : Json{{"sentence", s + 1}};
        row.update(word);
        add_fold(row, options, s);
        rows.add(row);
        continue;
      }
      for (const auto& [name, value] : word.items()) whole[name == "word" ? "words" : name].push_back(value);
    }
    add_fold(whole, options, s);
    if (options.format == PredictionFormat::jsonl) rows.add(whole);
  }
}

void write_questions(Rows& rows, const TaskData& data, const TaskGuesses& guesses, const PredictionOptions& options) {
  for (std::size_t q = 0; q < data.questions.size(); ++q) {
    const data::SpanQuestion& question = data.questions[q];
    std::vector<std::string> gold;
    for (const data::SpanAnswer& answer : question.answers) {
      if (std::ranges::find(gold, answer.text) == gold.end()) gold.push_back(answer.text);
    }
    const std::string predicted = predicted_answer(question, guesses.spans[q], options.null_threshold);
    Json row{{"id", question.id}, {"question", question.question}};
    row["gold"] = options.format == PredictionFormat::tsv ? Json(join(gold, " | ")) : Json(gold);
    row["predicted"] = predicted.empty() ? Json() : Json(predicted);
    row["score"] = guesses.spans[q].empty() ? Json() : Json(guesses.spans[q].front().score);
    add_fold(row, options, q);
    rows.add(row, question.more);
  }
}

}  // namespace

PredictionFormat prediction_format(const std::string& path, const std::string& mode) {
  if (path.ends_with(".jsonl")) return PredictionFormat::jsonl;
  check<UsageError>(path.ends_with(".tsv"), "-o ", path, ": with ", mode,
                    " it takes the predictions, as NAME.tsv or NAME.jsonl; the metrics are printed on "
                    "standard output");
  return PredictionFormat::tsv;
}

void write_predictions(std::ostream& out, const TaskData& data, const data::LabelSet& labels,
                       const TaskGuesses& guesses, const PredictionOptions& options) {
  Rows rows(out, options.format);
  write_texts(rows, data, labels, guesses, options);
  write_sentences(rows, data, labels, guesses, options);
  write_questions(rows, data, guesses, options);
}

}  // namespace heddle
