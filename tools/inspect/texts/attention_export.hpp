// Attention weights in files of other programs.
#pragma once

#include <string>

#include "formats/archives/json_archive.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/inspect/texts/attention_report.hpp"

namespace heddle {

// A list of rows, of [rows, columns].
formats::Json rows_of(const Tensor& weights);

// A line for each weight: of, layer, head, query, key, their pieces, weight.
void write_attention_table(const std::string& path, const AttentionReport& report);

formats::Json as_json(const AttentionReport& report, const std::string& model);

// Every layer and head of the report, with the command and the model as provenance.
void write_attention_file(const std::string& path, const AttentionReport& report, const cli::Arguments& arguments);

}  // namespace heddle
