#include "libcore/data/graph_schema.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle::data {

namespace {

constexpr std::string_view special = "\\=|~;() ";

std::string escaped_name(const std::string& name) {
  std::string result;
  for (const char character : name) {
    if (special.find(character) != special.npos) result += '\\';
    result += character;
  }
  return result;
}

std::string columns_text(const FeatureColumns& columns) {
  std::vector<std::string> parts;
  for (const CategoryColumn& column : columns.categories) {
    std::vector<std::string> kinds;
    for (const std::string& kind : column.kinds) kinds.push_back(escaped_name(kind));
    parts.push_back(escaped_name(column.name) + "=" + join(kinds, "|"));
  }
  for (const NumberColumn& column : columns.numbers) {
    parts.push_back(concatenate(escaped_name(column.name), "~", format(column.mean), "~", format(column.stddev)));
  }
  return join(parts, "; ");
}

// Reads the text from its beginning.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_blanks();
    return text_.empty();
  }
  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::string name() {
    skip_blanks();
    std::string result;
    while (!text_.empty() && (text_.front() == '\\' || special.find(text_.front()) == special.npos)) {
      if (text_.front() == '\\') text_.remove_prefix(1);
      if (text_.empty()) fail();
      result += text_.front();
      text_.remove_prefix(1);
    }
    return result;
  }
  double number() { return parse_number(name()); }
  [[noreturn]] void fail() const {
    throw UsageError(concatenate("columns of graphs are nodes(NAME=KIND|KIND; NAME~MEAN~STDDEV) edges(...), not '",
                                 std::string(text_), "'"));
  }

 private:
  void skip_blanks() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }
  std::string_view text_;
};

FeatureColumns read_columns(Scanner& scanner) {
  FeatureColumns columns;
  while (!scanner.take(")")) {
    const std::string name = scanner.name();
    if (scanner.take("=")) {
      CategoryColumn column{name, {}};
      do {
        column.kinds.push_back(scanner.name());
      } while (scanner.take("|"));
      if (column.kinds.size() == 1 && column.kinds.front().empty()) column.kinds.clear();
      columns.categories.push_back(std::move(column));
    } else if (scanner.take("~")) {
      const double mean = scanner.number();
      if (!scanner.take("~")) scanner.fail();
      columns.numbers.push_back({name, mean, scanner.number()});
    } else {
      scanner.fail();
    }
    (void)scanner.take(";");
  }
  return columns;
}

}  // namespace

std::string GraphSchema::text() const {
  std::vector<std::string> parts;
  if (!nodes.empty()) parts.push_back("nodes(" + columns_text(nodes) + ")");
  if (!edges.empty()) parts.push_back("edges(" + columns_text(edges) + ")");
  if (is_directed) parts.emplace_back("directed");
  return parts.empty() ? "auto" : join(parts, " ");
}

GraphSchema GraphSchema::from_text(std::string_view text) {
  GraphSchema schema;
  if (text == "auto") return schema;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    if (scanner.take("nodes(")) {
      schema.nodes = read_columns(scanner);
    } else if (scanner.take("edges(")) {
      schema.edges = read_columns(scanner);
    } else if (scanner.take("directed")) {
      schema.is_directed = true;
    } else {
      scanner.fail();
    }
  }
  return schema;
}

}  // namespace heddle::data
