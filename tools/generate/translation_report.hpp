// generate --evaluate: how near translations are to the references in a file.
#pragma once

#include <string>
#include <vector>

#include "libcore/metrics/translation.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

class TranslationEvaluation {
 public:
  // Throws DataError where the file cannot be read.
  explicit TranslationEvaluation(const std::string& path) : input_(path) {}

  // The translation of the next line, which is compared with the next reference, if there is one.
  void add(const std::string& translation);
  // Writes the report, as text or JSON. Throws DataError where there is not a
  // reference for each translation, or no translation.
  void write(std::ostream& out, bool json, std::uint64_t seed);

 private:
  cli::Input input_;
  cli::LineReader references_{input_};
  std::vector<metrics::TranslationCounts> lines_;
  Index translations_ = 0;
};

}  // namespace heddle
