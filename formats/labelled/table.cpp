#include "formats/labelled/table.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "formats/labelled/word_table.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

// A column number, from 1, as an index from 0.
std::optional<Index> column_number(std::string_view text) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number - 1;
}

bool take_blank_line(std::string_view& rest, Place& place) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  if (rest.empty() || !text::is_blank(line)) return false;
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  ++place.line;
  return true;
}

// The columns of a header that have one of three names, or if none has, that name in other case; and a list of all
// names, truncated if it is long.
class HeaderNames {
 public:
  void add(Index column, std::string_view name) {
    constexpr Index most_shown = 20;
    if (column < most_shown) {
      shown_ += concatenate(column == 0 ? "" : ", ", text::shown(name));
    } else if (column == most_shown) {
      shown_ += ", …";
    }
    const std::string lower = text::in_lower_case(name);
    for (Search& search : searches_) {
      if (search.name == name) search.exact.add(column);
      if (search.lower == lower) search.alike.add(column);
    }
  }
  void look_for(const std::string& name) {
    searches_.push_back({.name = name, .lower = text::in_lower_case(name), .exact = {}, .alike = {}});
  }

  const std::string& shown() const { return shown_; }
  // Throws DataError for a name that two columns have.
  std::optional<Index> find(std::string_view name, const Place& place) const {
    const auto search = std::ranges::find(searches_, name, &Search::name);
    const Columns& found = search->exact.first ? search->exact : search->alike;
    check<DataError>(!found.second, place, ": the columns ", found.first.value_or(0) + 1, " and ",
                     found.second.value_or(0) + 1, " are both called ", text::quoted(name),
                     "; give the number of the one to read, or rename one");
    return found.first;
  }

 private:
  struct Columns {
    std::optional<Index> first, second;
    void add(Index column) { (first ? second : first) = column; }
  };
  struct Search {
    std::string name, lower;
    Columns exact, alike;
  };
  std::vector<Search> searches_;
  std::string shown_;
};

struct WantedColumn {
  const char* option;
  std::string name;   // as the user gave it, or ""
  const char* usual;  // its name by default
  std::optional<Index>* place;
};

}  // namespace

std::vector<std::string> TextColumns::flags() const {
  if (!separator || label.find(',') == label.npos) return {};
  std::vector<std::string> names;
  for (const std::string& name : split(label, ',')) names.emplace_back(name_in(name));
  return names;
}

std::vector<std::string> names_of_columns(const std::string& list) {
  std::vector<std::string> names = list.empty() ? std::vector<std::string>{""} : split(list, ',');
  check<UsageError>(names.size() == 1 || std::ranges::count(names, "") == 0, "--text-column: '", list,
                    "' lacks a name; write A,B for columns whose texts are joined");
  return names;
}

std::string joined_texts(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (text::is_blank(text)) continue;
    all += (all.empty() ? "" : "\n") + text;
  }
  return all;
}

class TableReader {
 public:
  TableReader(const TableFormat& format, Texts texts, Gold gold, TableColumns& columns)
      : format_(format), texts_(texts), gold_(gold), columns_(columns) {}

  // The table's format: that of its beginning.
  static const TableFormat& settled(TableColumns& columns, const TableFormat& format, const Place& begin) {
    if (begin.line == 1 || !columns.format_) columns.format_ = format;
    return *columns.format_;
  }

  std::vector<data::LabelledText> read(std::string_view content, Place place, BadRecords& bad);

 private:
  void name_texts(bool is_one_name);
  std::vector<WantedColumn> wanted_columns();
  void settle_by_header(std::string_view& rest, Place& place);
  void settle_by_number(std::string_view rest, Place place);
  void check_distinct(const Place& place);
  void settle_flags(const Place& place);
  bool is_of_labels(Index column) const;
  void take_labels(Index column, std::string_view field, const Place& row, data::LabelledText& example) const;
  data::LabelledText next(std::string_view& rest, Place& place);
  std::string expected(Index count) const;

  const TableFormat& format_;
  Texts texts_;
  Gold gold_;
  TableColumns& columns_;
  std::vector<std::string> names_of_texts_;  // while the columns are found
  bool is_cut_ = false;                      // the quote that opens a field was not closed in it
};

// The columns whose fields are the text: of pairs always one.
void TableReader::name_texts(bool is_one_name) {
  names_of_texts_ = {columns_.wanted_.text};
  if (texts_ == Texts::one && !is_one_name) names_of_texts_ = names_of_columns(columns_.wanted_.text);
  columns_.texts_.assign(names_of_texts_.size(), std::nullopt);
}

std::vector<WantedColumn> TableReader::wanted_columns() {
  std::vector<WantedColumn> wanted;
  const TextColumns& names = columns_.wanted_;
  const std::vector<std::string> flags = names.flags();
  columns_.flags_.resize(flags.size());
  for (std::size_t i = 0; gold_ == Gold::given && i < flags.size(); ++i) {
    wanted.push_back({"--label-column", flags[i], "", &columns_.flags_[i]});
  }
  if (gold_ == Gold::given && flags.empty())
    wanted.push_back({"--label-column", names.label, names.usual_label(), &columns_.label_});
  for (std::size_t i = 0; i < names_of_texts_.size(); ++i) {
    wanted.push_back({"--text-column", names_of_texts_[i], first_column(texts_), &columns_.texts_[i]});
  }
  if (texts_ == Texts::one) return wanted;
  wanted.push_back({"--text-column", names.text_b, second_column(texts_), &columns_.text_b_});
  return wanted;
}

// Removes the header from the text.
void TableReader::settle_by_header(std::string_view& rest, Place& place) {
  HeaderNames names;
  const std::string& whole = columns_.wanted_.text;
  name_texts(false);
  for (const auto& [option, name, usual, column] : wanted_columns()) names.look_for(name.empty() ? usual : name);
  if (names_of_texts_.size() > 1) names.look_for(whole);
  if (texts_ == Texts::one) names.look_for("text_b");
  if (texts_ == Texts::worked) names.look_for(steps_column);
  while (take_blank_line(rest, place)) continue;
  const Place header = place;
  const std::string_view table = rest;
  std::vector<std::string> all;
  const Index count = format_.split(rest, place, [&](Index column, std::string_view name) {
    names.add(column, name_in(name));
    if (!columns_.flags_.empty()) all.emplace_back(name_in(name));
  });
  name_texts(names_of_texts_.size() > 1 && names.find(whole, header).has_value());
  const std::vector<WantedColumn> wanted = wanted_columns();
  const bool may_be_header = std::ranges::any_of(
      wanted, [&](const WantedColumn& one) { return !one.name.empty() || names.find(one.usual, header).has_value(); });
  const std::string or_none =
      may_be_header ? "; there are: " : "; if this line is an example, give --no-header; there are: ";
  for (const auto& [option, given, usual, column] : wanted) {
    const std::string name = given.empty() ? usual : given;
    *column = names.find(name, header);
    if (!*column && !given.empty()) *column = column_number(given);
    if (column->value_or(count) < count) continue;
    constexpr Index most_columns = 100;  // of a table with a word in each row
    const bool has_words = count <= most_columns && is_word_table(table, {format_.separator, format_.quote});
    throw DataError(
        concatenate(header, ": has no column ", text::quoted(name),
                    has_words ? "; a table with a word in each row is for --task label; there are: " : or_none,
                    names.shown(), "; choose one with ", option));
  }
  check<DataError>(texts_ != Texts::one || !columns_.wanted_.text.empty() || !names.find("text_b", header), header,
                   ": has a second text, 'text_b', where one is expected; --text-column text reads the first alone");
  if (texts_ == Texts::worked) columns_.steps_ = names.find(steps_column, header);
  columns_.count_ = count;
  columns_.flag_names_.clear();
  for (const std::optional<Index>& column : columns_.flags_) {
    columns_.flag_names_.push_back(column ? all[static_cast<std::size_t>(*column)] : "");
  }
}

// Reads the number of columns from the first row, which is an example.
void TableReader::settle_by_number(std::string_view rest, Place place) {
  name_texts(false);
  const std::vector<WantedColumn> wanted = wanted_columns();
  columns_.flag_names_ = columns_.wanted_.flags();
  if (columns_.wanted_.any()) {
    const Place row = place;
    columns_.count_ = format_.split(rest, place, [](Index, std::string_view) {});
    for (Index i = 0; const auto& [option, name, usual, column] : wanted) {
      const auto number = name.empty() ? std::optional(i) : column_number(name);
      check<DataError>(number.has_value(), row, ": ", option, " ", text::quoted(name),
                       ": there is no header, so columns have numbers, 1 to ", columns_.count_,
                       "; --header takes the first row for one");
      check<DataError>(*number < columns_.count_, row, ": has no column ", *number + 1, "; there are 1 to ",
                       columns_.count_, "; choose one with ", option);
      *column = number;
      ++i;
    }
    return;
  }
  columns_.count_ = static_cast<Index>(wanted.size());
  for (Index i = 0; const WantedColumn& column : wanted) *column.place = i++;
  if (texts_ != Texts::worked || format_.split(rest, place, [](Index, std::string_view) {}) != 3) return;
  columns_.steps_ = 1;
  columns_.text_b_ = 2;
  columns_.count_ = 3;
}

void TableReader::check_distinct(const Place& place) {
  const std::vector<WantedColumn> wanted = wanted_columns();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      check<DataError>(*wanted[i].place != *wanted[j].place, place, ": ", wanted[j].option, " and ", wanted[i].option,
                       " are both column ", wanted[i].place->value_or(0) + 1, "; give each its own");
    }
  }
}

void TableReader::settle_flags(const Place& place) {
  columns_.flag_at_.clear();
  if (gold_ == Gold::absent || columns_.flags_.empty()) return;
  columns_.flag_at_.resize(static_cast<std::size_t>(columns_.count_));
  for (std::size_t i = 0; i < columns_.flags_.size(); ++i) {
    check_label(columns_.flag_names_[i], place);
    columns_.flag_at_[static_cast<std::size_t>(columns_.flags_[i].value())] = i + 1;
  }
}

std::string TableReader::expected(Index count) const {
  if (is_cut_ && format_.separator == '\t') return "; if fields are in quotes, --format tsv:quote=double reads them";
  if (columns_.wanted_.any() || columns_.header_ == Header::present) return "";
  const std::string between = format_.between();
  if (texts_ == Texts::pair) return "; a line is SOURCE, " + between + ", TARGET";
  if (texts_ == Texts::worked)
    return concatenate("; a line is PROMPT, ", between, ", STEPS, ", between, ", ANSWER, or without STEPS");
  const char* const label = columns_.wanted_.separator ? "LABELS, " : "LABEL, ";
  std::string line = gold_ == Gold::given ? label + between + ", TEXT" : "TEXT";
  if (texts_ == Texts::two) line += ", " + between + ", TEXT";
  const bool has_more = count > columns_.count_;
  return "; a line is " + line +
         (has_more ? "; for tables with other columns there are --header and --text-column" : "");
}

bool TableReader::is_of_labels(Index column) const {
  const auto at = static_cast<std::size_t>(column);
  return column == columns_.label_ || (at < columns_.flag_at_.size() && columns_.flag_at_[at] > 0);
}

void TableReader::take_labels(Index column, std::string_view field, const Place& row,
                              data::LabelledText& example) const {
  if (column == columns_.label_) {
    example.labels = labels_in_field(field, *columns_.wanted_.separator, row);
    return;
  }
  const std::string& name = columns_.flag_names_[columns_.flag_at_[static_cast<std::size_t>(column)] - 1];
  if (flag_in_field(field, name, row)) example.labels.push_back(name);
}

data::LabelledText TableReader::next(std::string_view& rest, Place& place) {
  const Place row = place;
  data::LabelledText example;
  example.line = row.line;
  const bool has_label_sets = gold_ == Gold::given && columns_.wanted_.separator;
  std::vector<std::pair<Index, std::string>> of_labels;  // read when the row is, as errors must not stop that
  const bool joins = columns_.texts_.size() > 1;
  std::vector<std::string> parts(joins ? columns_.texts_.size() : 0);
  const Index count = format_.split(rest, place, [&](Index column, std::string_view field) {
    if (format_.quote == 0 && field.starts_with('"') && std::ranges::count(field, '"') % 2 == 1) is_cut_ = true;
    if (!joins && column == columns_.texts_.front()) example.text = field;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (column == columns_.texts_[i]) parts[i] = field;
    }
    if (column == columns_.text_b_) example.second_text = field;
    if (column == columns_.steps_) example.steps = std::make_shared<const std::string>(field);
    if (column == columns_.label_) example.label = name_in(field);
    if (has_label_sets && is_of_labels(column)) of_labels.emplace_back(column, field);
  });
  if (joins) example.text = joined_texts(parts);
  check<DataError>(count == columns_.count_, row, ": the number of columns is ", count, ", not ", columns_.count_,
                   expected(count));
  if (has_label_sets) example.label.clear();
  for (const auto& [column, field] : of_labels) take_labels(column, field, row, example);
  if (gold_ == Gold::given && !has_label_sets)
    check_label(example.label, row, concatenate("; if it is a text, ", data::swapped_columns));
  return example;
}

std::vector<data::LabelledText> TableReader::read(std::string_view content, Place place, BadRecords& bad) {
  if (place.line == 1) content = without_byte_order_mark(content);
  if (place.line == 1 || !columns_.settled_) {
    const bool by_format = columns_.header_ == Header::automatic;
    if (content.empty()) return {};
    if (by_format) columns_.header_ = format_.has_header ? Header::present : Header::absent;
    const Place first = place;
    columns_.header_ == Header::present ? settle_by_header(content, place) : settle_by_number(content, place);
    check_distinct(first);
    settle_flags(first);
    columns_.settled_ = true;
  }
  std::vector<data::LabelledText> examples;
  examples.reserve(line_count(content));
  const bool may_skip = columns_.count_ > 1 && texts_ != Texts::pair;
  while (!content.empty()) {
    if (may_skip && take_blank_line(content, place)) continue;
    bad.attempt(place.line, [&] { examples.push_back(next(content, place)); });
  }
  return examples;
}

std::vector<data::LabelledText> read_table(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                           TableColumns& columns, const TableFormat& format, BadRecords& bad) {
  // A list that stays empty is left out of the count, as meaningful lines are all there is room for.
  const std::size_t unused = columns.wanted().separator ? 0 : sizeof(data::LabelledText::labels);
  Room(content, begin.file).take_for_lines(content, sizeof(data::LabelledText) - unused);
  return TableReader(TableReader::settled(columns, format, begin), texts, gold, columns).read(content, begin, bad);
}

}  // namespace heddle::formats
