// generate --evaluate: how near translations are to the references in a file.
#pragma once

#include <string>
#include <vector>

#include "libcore/metrics/translation.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

class TranslationEvaluation {
 public:
  // Throws DataError where the file cannot be read.
  explicit TranslationEvaluation(const std::string& path) : input_(path) {}

  // The translation of the next line, which is compared with the next reference, if there is one.
  void add(const std::string& translation);
  // Writes the report, as text or JSON, and warns where words are no units to go by. Throws DataError where there is
  // not a reference for each translation, or no translation.
  void write(std::ostream& out, bool json, const cli::Arguments& arguments);

 private:
  cli::Input input_;
  cli::LineReader references_{input_};
  std::vector<metrics::TranslationCounts> lines_;
  Index translations_ = 0, unspaced_ = 0;  // references without spaces between words
};

}  // namespace heddle
