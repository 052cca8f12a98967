// Tables of labelled texts: rows of fields, in which some columns hold the text, the second text and the label. TSV and
// CSV differ only in how a row is split into fields.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/bad_records.hpp"
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
// called "prompt", "steps" and "answer", and steps may be absent, without a header, too. With a separator, texts have
// any number of labels: `label` names a column or key of all labels, "labels" by default, between which the separator
// is, or comma-separated ones of 0 or 1, which are called as the labels are.
struct TextColumns {
  std::string text, text_b, label;
  std::optional<std::string> separator{};

  // Those that hold 0 or 1; none where there is a column of all labels.
  std::vector<std::string> flags() const;
  const char* usual_label() const { return separator ? "labels" : "label"; }

  bool any() const { return !text.empty() || !text_b.empty() || !label.empty(); }
  bool operator==(const TextColumns&) const = default;
};

struct TableFormat;

// The columns of one table while its rows are read, from its beginning: the row that begins at line 1 determines them.
class TableColumns {
 public:
  explicit TableColumns(TextColumns wanted = {}, Header header = Header::automatic)
      : wanted_(std::move(wanted)), header_(header) {}

  const TextColumns& wanted() const { return wanted_; }
  Header header() const { return header_; }

 private:
  friend class TableReader;
  TextColumns wanted_;
  Header header_;
  const TableFormat* format_ = nullptr;
  bool settled_ = false;
  Index count_ = 0;                                     // fields of each row
  std::optional<Index> text_, text_b_, label_, steps_;  // from 0
  std::vector<std::optional<Index>> flags_;             // of TextColumns::flags()
  std::vector<std::string> flag_names_;
  std::vector<std::size_t> flag_at_;  // of each column, the number of its flag, from 1; 0: none
};

// A format of tables, a constant of the program. split() removes the first row from `rest`, calls take(column, field)
// for each field, in order, with a view that is valid during the call, advances `line` past the row, and returns the
// number of fields. Throws DataError, "FILE:LINE: …", for a row that cannot be split, of which it removes the line
// where it stopped, or the first.
struct TableFormat {
  using Take = std::function<void(Index column, std::string_view field)>;
  Index (*split)(std::string_view& rest, Place& place, const Take& take);
  bool has_header;           // by default
  std::string_view between;  // the separator of fields, for messages
};

// One example per row, for whole rows, the first of which is at `begin`, which determines the format of all. A header
// is not an example, and neither is an empty line in a table of several columns, but in one of pairs. Rows of other
// numbers of fields and with bad labels are bad records. Throws DataError for missing columns. Memory is limited by
// Room.
std::vector<data::LabelledText> read_table(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                           TableColumns& columns, const TableFormat& format, BadRecords& bad);

}  // namespace heddle::formats
