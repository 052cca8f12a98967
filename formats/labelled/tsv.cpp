#include "formats/labelled/tsv.hpp"

namespace heddle::formats {

namespace {

constexpr TableFormat with_tabs{.separator = '\t', .quote = 0, .has_header = false};
constexpr TableFormat of_texts{.separator = {}, .quote = 0, .has_header = false};

}  // namespace

const TableFormat& tsv_format() {
  return with_tabs;
}

std::vector<data::LabelledText> read_tsv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                         TableColumns& columns, BadRecords& bad) {
  const bool is_text = texts == Texts::one && gold == Gold::absent && !columns.wanted().any() &&
                       columns.header() != Header::present && columns.syntax() == TableSyntax();
  return read_table(content, begin, texts, gold, columns, is_text ? of_texts : with_tabs.with_syntax(columns.syntax()),
                    bad);
}

}  // namespace heddle::formats
