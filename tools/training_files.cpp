#include "training_files.hpp"

#include <cmath>
#include <filesystem>

#include "heddle/cli/values.hpp"

namespace heddle {

TrainingFile training_file(const std::string& word) {
  const std::size_t colon = word.rfind(':');
  std::error_code error;
  if (colon == std::string::npos || std::filesystem::exists(word, error)) return {word, 1};
  double weight = 0;
  try {
    weight = cli::parse_number(std::string_view(word).substr(colon + 1));
  } catch (const UsageError&) {
    check<UsageError>(!std::filesystem::exists(word.substr(0, colon), error), "--train: ", word, ": the weight '",
                      word.substr(colon + 1), "' is not a number");
    return {word, 1};
  }
  check<UsageError>(weight > 0 && weight <= 1e6, "--train: ", word, ": the weight must be more than 0 and at most 1000000");
  return {word.substr(0, colon), weight};
}

TrainingFiles::TrainingFiles(const std::vector<std::string>& words) {
  std::vector<data::JoinedTokens::Source> sources;
  for (const std::string& word : words) {
    given_.push_back(training_file(word));
    files_.push_back(std::make_unique<formats::TokenFile>(given_.back().path));
    const formats::TokenFile& file = *files_.back();
    check<DataError>(file.tokenizer().fingerprint() == first().tokenizer().fingerprint(), file.name(),
                     ": was encoded with another tokenizer than ", first().name(),
                     "; encode it with the same one (tokenize -t ", first().name(), ")");
    sources.push_back({file, given_.back().weight});
  }
  tokens_.emplace(std::move(sources));
}

void TrainingFiles::add_to(formats::Provenance& provenance) const {
  for (const auto& [path, weight] : given_) {
    formats::add_input(provenance, weight == 1 ? "train" : concatenate("train, weight ", weight), path);
  }
}

}  // namespace heddle
