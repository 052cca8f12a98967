// A summary as text for people or JSON for programs.
#pragma once

#include <string>

#include "heddle/formats/archives/json_archive.hpp"
#include "tools/inspect/summary.hpp"

namespace heddle {

std::string as_text(const Summary& summary);
formats::Json as_json(const Summary& summary);
// A chart of the losses and what they came to.
std::string history_text(const formats::History& history);
// A list for each column; what a row has no value for is null.
formats::Json as_json(const formats::History& history);

// A blank line, the title, and the content indented.
std::string text_section(const std::string& title, const std::string& content);

// Throws UsageError for both --json and --jsonl.
void check_forms(bool json, bool jsonl);

// One object, indented, with a newline at its end.
std::string dump(const formats::Json& json);

}  // namespace heddle
