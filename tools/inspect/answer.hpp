// Destination of a verb's answer.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

// Standard output, for people or as JSON, or a file.
struct Answer {
  std::string output;
  bool json = false;

  // `files`: "a picture .svg, .png or .pdf, or a table .tsv".
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor, const std::string& files) {
    visitor(Field("output", "file to write: " + files).letter('o').not_empty().takes("FILE").essential(), self.output);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }

  // Throws UsageError for a file whose name has none of the endings, and for --json with a file. `subject`: "costs".
  void check(std::string_view subject, const std::vector<std::string>& endings) const {
    if (output.empty()) return;
    const bool is_known = std::ranges::any_of(endings, [&](const std::string& end) { return output.ends_with(end); });
    const std::string others = join({endings.begin(), endings.end() - 1});
    heddle::check<UsageError>(is_known, output, ": ", subject, " can be written to ", others, " and ", endings.back(),
                              " files");
    heddle::check<UsageError>(!json, "--json prints to standard output; leave out -o or --json");
  }
};

}  // namespace heddle
