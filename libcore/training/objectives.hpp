// The objectives of pre-training by name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/masking.hpp"
#include "libcore/data/noise.hpp"
#include "libcore/data/pair_batches.hpp"
#include "libcore/data/token_source.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/options.hpp"

namespace heddle::training {

// What an objective is trained on.
enum class DataKind { text, pairs };

// One of them, or neither; for measurements perhaps both, of which the objective takes what it is trained on.
struct TrainingData {
  const data::TokenSource* text = nullptr;
  const data::PairSource* pairs = nullptr;

  // None unless it is one of them.
  std::optional<DataKind> kind() const {
    if ((text == nullptr) == (pairs == nullptr)) return std::nullopt;
    return text != nullptr ? DataKind::text : DataKind::pairs;
  }
};

// The inputs of an objective. The model and the data must outlive it.
struct ObjectiveInputs {
  models::Model& model;
  TrainingData train;
  TrainingData valid{};                               // neither: nothing to evaluate on
  const text::Tokenizer* tokenizer = nullptr;         // that made the tokens; null: random tokens, for measurements
  const text::Tokenizer* source_tokenizer = nullptr;  // of the sources of pairs; null: the same
  const data::MaskingOptions& masking;
  const data::NoiseOptions& noise;
  const data::PairOptions& pairs;
  const TrainingConfig& config;
  data::PermutationOptions permutation{};
  DetectionOptions detection{};
};

// Lets the configuration have what models need that the objective trains, such as a generator, where it leaves this
// open; "auto" changes nothing.
void prepare(models::ModelConfig& config, const std::string& objective);

// Throws UsageError for a name that is not in the list, and UsageError and DataError for what does not go together.
std::unique_ptr<Objective> make_objective(const std::string& name, const ObjectiveInputs& inputs);

// In the order of objectives.def.
std::vector<std::string> objective_names();
// "causal: each next token; masked: …"
std::string objective_summaries();

// The objective of a name for a model: for "auto" the first whose role the model has and that is trained on this kind
// of data, or else the first whose role the model has. Throws UsageError for an unknown name and for a model that the
// objective is not for, with those that it is for.
std::string objective_of(const models::Model& model, const std::string& name, std::optional<DataKind> data = {});

DataKind data_of(const std::string& objective);

// Whether the objective uses an option of a section of TrainingSetup.
bool takes_option(const std::string& objective, const std::string& section, const std::string& option);

}  // namespace heddle::training
