#include "tools/training/files.hpp"

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
  check<UsageError>(weight > 0 && weight <= 1e6, "--train: ", word,
                    ": the weight must be more than 0 and at most 1000000");
  return {word.substr(0, colon), weight};
}

std::vector<TrainingFile> training_files(const std::vector<std::string>& words) {
  std::vector<TrainingFile> files;
  for (const std::string& word : words) files.push_back(training_file(word));
  return files;
}

void add_inputs(formats::Provenance& provenance, const std::vector<TrainingFile>& files) {
  for (const auto& [path, weight] : files) {
    formats::add_input(provenance, weight == 1 ? "train" : concatenate("train, weight ", weight), path);
  }
}

TrainingFiles::TrainingFiles(const std::vector<std::string>& words) : given_(training_files(words)) {
  std::vector<data::JoinedTokens::Source> sources;
  for (const auto& [path, weight] : given_) {
    files_.push_back(std::make_unique<formats::TokenFile>(path));
    const formats::TokenFile& file = *files_.back();
    check<DataError>(file.tokenizer().fingerprint() == first().tokenizer().fingerprint(), file.name(),
                     ": was encoded with another tokenizer than ", first().name(),
                     "; encode it with the same one (tokenize -t ", first().name(), ")");
    sources.push_back({file, weight});
  }
  tokens_.emplace(std::move(sources));
}

}  // namespace heddle
