// The options that a tool has of its own.
#pragma once

#include <string>
#include <vector>

#include "tools/small_corpus.hpp"

namespace heddle::testing {

// The names of the options that --help=all lists, those that every tool has left out.
inline std::vector<std::string> own_options(const SmallCorpus& corpus, const std::string& tool) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(corpus.must(tool + " --help=all").out)) {
    if (line == "Common options:") break;
    const std::size_t dashes = line.find("--");
    const bool is_term = line.starts_with("      --") || (line.starts_with("  -") && dashes == 6);
    if (is_term) names.push_back(line.substr(dashes, line.find_first_of(" [", dashes) - dashes));
  }
  return names;
}

}  // namespace heddle::testing
