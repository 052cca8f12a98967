#include "tools/classify/input_watch.hpp"

#include <algorithm>
#include <string_view>

#include "formats/files/lines.hpp"
#include "formats/labelled/csv.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/letter_case.hpp"
#include "tools/tasks/data_warnings.hpp"

namespace heddle {

namespace {

using formats::LabelledFormat;

constexpr const char* has_labels = ": the input has labels; --evaluate compares the answers with them";

// Whether the first row of CSV names this column.
bool names_column(std::string_view row, const std::string& name, std::optional<char> separator = std::nullopt) {
  row = row.substr(0, row.find_first_of("\r\n"));
  const std::vector<std::string> names =
      split(without_byte_order_mark(row), separator.value_or(formats::csv_separator(row)));
  return std::ranges::any_of(
      names, [&](const std::string& field) { return text::in_lower_case(trimmed(field, "\" \t")) == name; });
}

// As far as can be seen without reading it.
bool is_object(std::string_view line) {
  line = trimmed(line, " \t\r\n");
  return line.starts_with('{') && line.ends_with('}') && line.find("\":") != line.npos;
}

// Whether an object on one line has a member "label", as far as can be seen without reading it.
bool has_label_member(std::string_view line) {
  constexpr std::string_view key = "\"label\"";
  for (std::size_t at = 0; (at = line.find(key, at)) != line.npos; ++at) {
    const std::size_t next = line.find_first_not_of(" \t", at + key.size());
    if (next != line.npos && line[next] == ':') return true;
  }
  return false;
}

std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> columns = split(line, line.find('\t') != line.npos ? '\t' : ' ');
  std::erase(columns, "");
  return columns;
}

}  // namespace

LabelWatch::LabelWatch(const std::string& path, const models::TaskConfig& task, const data::LabelSet& labels,
                       const formats::LabelledInput& input, LabelledFormat texts)
    : is_tsv_(path.ends_with(".tsv")), task_(task), labels_(labels), input_(input), texts_(texts) {}

std::optional<std::string> LabelWatch::warning(const InputText& text) const {
  const models::Answered answered = answered_by(task_.task);
  const bool is_data_set = texts_ == LabelledFormat::csv || texts_ == LabelledFormat::jsonl;
  if (answered == models::Answered::parts) return is_data_set ? std::nullopt : of_words(text);
  return answered == models::Answered::place ? std::nullopt : of_line(text);
}

std::optional<std::string> LabelWatch::raw_warning(const InputText& text) {
  if (is_object(text.text)) return text.where() + ": looks like JSON; --raw treats it as text";
  if (std::ranges::count(text.text, '\t') < 2) return std::nullopt;
  return text.where() + ": looks like a CoNLL row; --raw treats it as text, and without --raw each line is a word";
}

std::optional<std::string> LabelWatch::of_line(const InputText& text) const {
  const bool is_first_row = text.line == 1 && input_.header != formats::Header::absent;
  if (texts_ == LabelledFormat::csv && is_first_row &&
      names_column(text.text, "label", input_.format.syntax().separator))
    return text.where() + has_labels;
  if (texts_ == LabelledFormat::jsonl && has_label_member(text.text)) return text.where() + has_labels;
  if (texts_ == LabelledFormat::tsv && input_.format.kind() == LabelledFormat::automatic && !input_.columns.any()) {
    if (is_object(text.text)) return text.where() + ": looks like JSON, all of it is the text; --format jsonl reads it";
    if (text.line == 1 && text.text.find_first_of(",;") != std::string::npos && names_column(text.text, "text"))
      return text.where() + ": looks like the header of CSV, and is read as a text; --format csv reads it";
  }
  const std::size_t tab = text.text.find('\t');
  if (texts_ != LabelledFormat::tsv || tab == std::string::npos || input_.columns.any()) return std::nullopt;
  if (labels_.find(text.text.substr(0, tab))) {
    const bool is_whole = !task_.two_texts && input_.header != formats::Header::present;
    return text.where() + has_labels + (is_whole ? " (now the whole line, with its label, is the text)" : "");
  }
  if (!is_tsv_ || task_.two_texts || input_.header == formats::Header::present) return std::nullopt;
  return text.where() + ": the whole line, with its tab, is the text; --text-column reads one column";
}

std::optional<std::string> LabelWatch::of_words(const InputText& text) const {
  std::optional<std::string> warning;
  formats::for_each_line(text.text, {text.file, text.line}, [&](std::string_view line, const formats::Place& place) {
    const std::vector<std::string> columns = columns_of(line);
    if (warning || columns.empty() || line.starts_with('#') || line.starts_with("-DOCSTART-")) return;
    if (is_object(line)) {
      warning =
          concatenate(place, ": looks like JSON; words are read from lines of words and CoNLL-U, sentences by --raw");
      return;
    }
    const auto is_label = [&](const std::string& column) { return labels_.find(column).has_value(); };
    const bool has_label = std::any_of(columns.begin() + 1, columns.end(), is_label);
    constexpr std::size_t conllu_columns = 10;
    const bool is_sentence =
        input_.columns.text.empty() && (std::ranges::count(columns.front(), ' ') >= 3 ||
                                        (columns.size() >= 3 && line.find('\t') == line.npos && !has_label));
    if (is_sentence) {
      warning = concatenate(place, ": ", shown(columns.front()),
                            " is taken as the word; --raw tags sentences as they are, else each word has its line");
    } else if (columns.size() > 1 && is_label(columns.size() == conllu_columns ? columns[3] : columns.back())) {
      warning = concatenate(place, has_labels);
    }
  });
  return warning;
}

}  // namespace heddle
