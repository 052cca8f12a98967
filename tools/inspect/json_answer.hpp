// The answer of a verb as JSON.
#pragma once

#include <iostream>
#include <string>

#include "formats/archives/json_archive.hpp"
#include "libcore/base/printable.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

// Throws UsageError for both --json and --jsonl.
inline void check_forms(bool json, bool jsonl) {
  check<UsageError>(!json || !jsonl, "--json and --jsonl are two forms of the answer; give one of them");
}

// One object, indented, with a newline at its end.
inline std::string dump(const formats::Json& json) {
  return printable_json(json.dump(2, ' ', false, formats::Json::error_handler_t::replace)) + "\n";
}

// Converts each item by make(): printed at once, one per line, with --jsonl; else as a list.
template <class Items, class Make>
formats::Json json_list(const Items& items, bool lines, const Make& make) {
  formats::Json list = formats::Json::array();
  for (const auto& item : items) {
    formats::Json json = make(item);
    if (lines) {
      std::cout << json_line(json) << std::endl;
    } else {
      list.push_back(std::move(json));
    }
  }
  return list;
}

}  // namespace heddle
