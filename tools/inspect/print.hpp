// A summary as text for people or JSON for programs.
#pragma once

#include <string>

#include "formats/archives/json_archive.hpp"
#include "tools/inspect/summary.hpp"

namespace heddle {

std::string as_text(const Summary& summary);
formats::Json as_json(const Summary& summary);
// A chart of the losses, and the last and lowest values.
std::string history_text(const formats::History& history);
// One list per column; missing values are null.
formats::Json as_json(const formats::History& history);

// A blank line, the title, and the content indented.
std::string text_section(const std::string& title, const std::string& content);

// Throws UsageError for both --json and --jsonl.
void check_forms(bool json, bool jsonl);

// One object, indented, with a newline at its end.
std::string dump(const formats::Json& json);

}  // namespace heddle
