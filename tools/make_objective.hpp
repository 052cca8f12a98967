// What a model is trained for.
#pragma once

#include <memory>

#include "heddle/cli/arguments.hpp"
#include "heddle/data/masking.hpp"
#include "heddle/data/token_source.hpp"
#include "heddle/training/objective.hpp"
#include "heddle/training/options.hpp"

namespace heddle {

enum class ObjectiveKind { automatic, causal, masked };
template <>
struct Names<ObjectiveKind> {
  static constexpr std::pair<ObjectiveKind, std::string_view> list[] = {
      {ObjectiveKind::automatic, "auto"}, {ObjectiveKind::causal, "causal"}, {ObjectiveKind::masked, "masked"}};
};

// Throws UsageError for an objective that the architecture cannot be trained for, and for masking options where nothing
// is masked.
void check_objective(ObjectiveKind kind, models::Architecture architecture, const cli::Arguments& arguments);

// Throws UsageError, "--NAME" and the reason, for a masking option that was given.
void refuse_masking(const cli::Arguments& arguments, const std::string& reason);

struct TrainingTexts {
  const data::TokenSource& train;
  const data::TokenSource* valid = nullptr;    // may be null
  const text::Tokenizer* tokenizer = nullptr;  // that made them; null: the tokens mean nothing and are for measuring
};

// The objective of the model's architecture. The model and the token sources must stay. Throws UsageError and DataError
// for what does not go together.
std::unique_ptr<training::Objective> make_objective(models::Model& model, const TrainingTexts& texts,
                                                    const data::MaskingOptions& masking, const training::Plan& plan);

}  // namespace heddle
