// The answer of a verb as JSON.
#pragma once

#include <string>

#include "formats/archives/json_archive.hpp"
#include "libcore/base/printable.hpp"

namespace heddle {

// Throws UsageError for both --json and --jsonl.
inline void check_forms(bool json, bool jsonl) {
  check<UsageError>(!json || !jsonl, "--json and --jsonl are two forms of the answer; give one of them");
}

// One object, indented, with a newline at its end.
inline std::string dump(const formats::Json& json) {
  return printable_json(json.dump(2, ' ', false, formats::Json::error_handler_t::replace)) + "\n";
}

}  // namespace heddle
