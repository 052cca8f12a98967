// Comma-separated values: rows of fields, the first of which names the columns by default. A field in quotes may hold
// commas, line breaks and, doubled, quotes; other fields hold no commas and line breaks, and their quotes are literal,
// as most programs read them. Rows end in "\n" or "\r\n". Spreadsheets write semicolons for commas where the comma is
// the decimal separator. Source: RFC 4180.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/table.hpp"

namespace heddle::formats {

// The format of a table whose first row names the columns.
TableFormat csv_format(std::string_view content);

// Separator of the fields: a semicolon if the header has one and no comma.
char csv_separator(std::string_view content);

// The fields of the first row. Throws DataError as the readers do.
std::vector<std::string> first_csv_row(std::string_view content, bool is_header, const TableSyntax& syntax = {});

// One example per row, for whole rows, the first of which is at `begin`. Invalid rows are bad records, with the line on
// which a row or an open quote begins; reading continues with the line after it.
std::vector<data::LabelledText> read_csv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                         TableColumns& columns, BadRecords& bad);

}  // namespace heddle::formats
