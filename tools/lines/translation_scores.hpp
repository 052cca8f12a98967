// Scores of translations against references, per line and as a report, for generate --evaluate and inspect
// translations.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "libcore/metrics/translation.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

class TranslationScores {
 public:
  explicit TranslationScores(metrics::BleuWords words = metrics::BleuWords::v13a) : words_(words) {}

  // A translation, with at least one reference, as many for each line.
  void add(const std::string& translation, std::span<const std::string> references);
  Index lines() const { return std::ssize(lines_); }
  // Writes the report, as text or JSON, and warns where words are no units to go by. Throws DataError where there is no
  // translation.
  void write(std::ostream& out, bool json, const cli::Arguments& arguments) const;

 private:
  void warn_of_words(const cli::Arguments& arguments) const;

  metrics::BleuWords words_;
  std::vector<metrics::TranslationCounts> lines_;
  Index references_ = 1, unspaced_ = 0;  // unspaced_: lines whose references have no spaces between words
};

// The references in a file, a line for each translation.
class References {
 public:
  // Throws DataError where the file cannot be read.
  explicit References(const std::string& path) : input_(path) {}

  // The reference of the next translation; nothing where the file has ended.
  std::optional<std::string> next();
  // Throws DataError unless there was one for each of so many translations, which the message calls so, and no more.
  void check_end(Index translations, const char* one, const char* several);

 private:
  cli::Input input_;
  cli::LineReader lines_{input_};
  Index read_ = 0;
};

}  // namespace heddle
