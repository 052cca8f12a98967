// Tables of labelled texts: rows of fields, in which some columns hold the text, the second text and the label. TSV and
// CSV differ only in how a row is split into fields (table_format.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/bad_records.hpp"
#include "formats/labelled/table_format.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// Whether the first row names the columns; automatic: depends on the format.
enum class Header { automatic, present, absent };

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::Header> {
  static constexpr std::pair<formats::Header, std::string_view> list[] = {
      {formats::Header::automatic, "auto"}, {formats::Header::present, "true"}, {formats::Header::absent, "false"}};
};

namespace heddle::formats {

// Columns by name or number from 1; "" is the default: with a header the columns "text", "text_b" and "label", else
// label, text, second text, from the left, without those that are not wanted. Of prompts and answers the columns are
// called "prompt", "steps" and "answer", and steps may be absent, without a header, too. Where examples have one text,
// it may be joined from several columns, "title,body": those that are not blank, in this order, with a line feed
// between them. A column that is called so itself goes first. With a separator, texts have any number of labels:
// `label` names a column or key of all labels, "labels" by default, between which the separator is, or comma-separated
// ones of 0 or 1, which are called as the labels are.
struct TextColumns {
  std::string text, text_b, label;
  std::optional<std::string> separator{};

  // Columns that hold 0 or 1; none if one column has all labels.
  std::vector<std::string> flags() const;
  const char* usual_label() const { return separator ? "labels" : "label"; }

  bool any() const { return !text.empty() || !text_b.empty() || !label.empty(); }
  bool operator==(const TextColumns&) const = default;
};

// The names of a list "a,b"; of an empty one, "" alone. Throws UsageError if one of several is missing.
std::vector<std::string> names_of_columns(const std::string& list);
// One text of several, as above.
std::string joined_texts(const std::vector<std::string>& texts);

// The columns of one table while its rows are read, from its beginning: the row that begins at line 1 determines them.
class TableColumns {
 public:
  explicit TableColumns(TextColumns wanted = {}, Header header = Header::automatic, const TableSyntax& syntax = {})
      : wanted_(std::move(wanted)), header_(header), syntax_(syntax) {}

  const TextColumns& wanted() const { return wanted_; }
  Header header() const { return header_; }
  const TableSyntax& syntax() const { return syntax_; }

 private:
  friend class TableReader;
  TextColumns wanted_;
  Header header_;
  TableSyntax syntax_;
  std::optional<TableFormat> format_;
  bool settled_ = false;
  Index count_ = 0;                          // fields of each row
  std::vector<std::optional<Index>> texts_;  // from 0, as those below: several are joined
  std::optional<Index> text_b_, label_, steps_;
  std::vector<std::optional<Index>> flags_;  // columns of TextColumns::flags()
  std::vector<std::string> flag_names_;
  std::vector<std::size_t> flag_at_;  // for each column, the number of its flag, from 1; 0: none
};

// One example per row, for whole rows, the first of which is at `begin`, which determines the format of all. A header
// is not an example, and neither is an empty line in a table of several columns, but in one of pairs. Rows of other
// numbers of fields and with bad labels are bad records. Throws DataError for missing columns. Memory is limited by
// Room.
std::vector<data::LabelledText> read_table(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                           TableColumns& columns, const TableFormat& format, BadRecords& bad);

}  // namespace heddle::formats
