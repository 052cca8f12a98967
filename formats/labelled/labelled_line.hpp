// Common parts of the formats of labelled data: what a caller requires, valid labels, memory limits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/files/lines.hpp"
#include "libcore/base/error.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// Blanks within a line.
inline constexpr std::string_view blanks = " \t";

// Whether the gold answers (labels, tags, spans) are required. Those that are not required may be missing.
enum class Gold { given, absent };

// The texts of an example. Of a pair, the first is the source and the second the target; of a worked one, they are the
// prompt and the answer, between which there may be steps.
enum class Texts { one, two, pair, worked };

// The usual names of the columns with the first and the second text.
const char* first_column(Texts texts);
const char* second_column(Texts texts);
inline constexpr const char* steps_column = "steps";

// Separators of several labels in one field, as people write them, and the text that each stands for. Throws UsageError
// for other words.
inline constexpr std::string_view label_separators[] = {";", "|", "/", "+", "comma", "space", "tab"};
std::string separator_text(std::string_view word);

// Adds a label of a text unless the text has it. Throws DataError as check_label() does, and where there are more than
// a text can mean.
void add_label(std::vector<std::string>& labels, std::string_view label, const Place& place);

// The labels in a field, without white space around them; none twice, and none in a field of white space. Throws
// DataError as check_label() does.
std::vector<std::string> labels_in_field(std::string_view field, std::string_view separator, const Place& place);

// Whether a text has the label of a column or key, which holds 0 or 1, false or true. Throws DataError for other
// values.
bool flag_in_field(std::string_view field, std::string_view column, const Place& place);

// The first line that is not blank, without its ending.
std::string_view first_line(std::string_view content);

// A label, or the name of a column, without the white space around it.
std::string_view name_in(std::string_view field);
// Throws DataError unless the label is UTF-8 text without control characters, and not empty. The advice ends the
// message about a label that is no such text.
void check_label(std::string_view label, const Place& place, const std::string& advice = "");
// A file that is more than its examples may take in memory.
struct NoRoom : DataError {
  using DataError::DataError;
};

// The memory that examples may take: 18 times their text plus 48 MB, which meaningful lines do not exceed. Checked
// before it is allocated.
class Room {
 public:
  Room(std::string_view content, std::string_view file) : file_(file), left_(18 * content.size() + (48u << 20)) {}

  // Throws NoRoom if fewer bytes are left.
  void take(std::size_t bytes);
  // For one object of this size per line.
  void take_for_lines(std::string_view content, std::size_t bytes_each);

 private:
  std::string_view file_;
  std::size_t left_;
};

}  // namespace heddle::formats
