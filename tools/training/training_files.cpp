#include "tools/training/training_files.hpp"

#include <cmath>
#include <filesystem>

#include "formats/files/content_type.hpp"
#include "libcore/base/values.hpp"

namespace heddle {

namespace {

constexpr double millionths_per_percent = 1e4;

// The ending of the role of a training file, a part of which is held out: "train, 10% for validation".
constexpr const char* held_out_ending = " for validation";

}  // namespace

std::string Validation::text() const {
  return holds_out() ? concatenate(static_cast<double>(held_out.millionths) / millionths_per_percent, "%") : file;
}

TrainingFile training_file(const std::string& word) {
  const std::size_t colon = word.rfind(':');
  std::error_code error;
  if (colon == std::string::npos || std::filesystem::exists(word, error)) return {word, 1};
  double weight = 0;
  try {
    weight = parse_number(std::string_view(word).substr(colon + 1));
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

Validation validation(const std::string& word) {
  if (!word.ends_with('%')) return {.file = word, .held_out = {}};
  double percent = 0;
  try {
    percent = parse_number(std::string_view(word).substr(0, word.size() - 1));
  } catch (const UsageError&) {
    return {.file = word, .held_out = {}};
  }
  const auto millionths = std::round(percent * millionths_per_percent);
  check<UsageError>(millionths >= 1 && millionths < 100 * millionths_per_percent, "--valid ", word,
                    ": the part must be more than 0% and less than 100%; a file of this name is ./", word);
  return {.file = "", .held_out = {static_cast<Index>(millionths)}};
}

void add_inputs(formats::Provenance& provenance, const std::vector<TrainingFile>& files, const Validation& valid,
                Documents documents) {
  for (const auto& [path, weight] : files) {
    std::string role = "train";
    if (weight != 1) role += concatenate(", weight ", weight);
    if (documents != Documents::file && is_text(path)) role += ", documents " + to_text(documents);
    if (valid.holds_out()) role += ", " + valid.text() + held_out_ending;
    formats::add_input(provenance, role, path);
  }
}

std::string validation_of(const formats::Provenance& provenance) {
  for (const formats::ProvenanceInput& input : provenance.own.inputs) {
    if (input.role == "valid") return input.name;
    if (!input.role.ends_with(held_out_ending)) continue;
    const std::string last = split(input.role, ',').back();
    return last.substr(1, last.size() - 1 - std::string_view(held_out_ending).size());
  }
  return "";
}

bool is_text(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && !formats::looks_like_hdf5(path);
}

TrainingTokens::TrainingTokens(std::vector<std::unique_ptr<data::TokenSource>> train,
                               const std::vector<TrainingFile>& files, std::unique_ptr<data::TokenSource> valid_file,
                               const Validation& valid)
    : files_(std::move(train)), valid_file_(std::move(valid_file)) {
  std::vector<data::JoinedTokens::Source> train_sources, valid_sources;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const data::TokenSource* source = files_[i].get();
    if (valid.holds_out()) {
      data::HeldOutTokens split = data::hold_out_tokens(*source, valid.held_out);
      parts_.push_back(std::make_unique<data::TokensOfRanges>(*source, std::move(split.valid)));
      valid_sources.push_back({*parts_.back(), 1});
      parts_.push_back(std::make_unique<data::TokensOfRanges>(*source, std::move(split.train)));
      source = parts_.back().get();
    }
    train_sources.push_back({*source, files[i].weight});
  }
  train_.emplace(std::move(train_sources));
  if (!valid_sources.empty()) valid_.emplace(std::move(valid_sources));
}

}  // namespace heddle
