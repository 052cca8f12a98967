#include "make_objective.hpp"

#include "heddle/training/causal.hpp"
#include "heddle/training/masked.hpp"
#include "refuse.hpp"

namespace heddle {

void check_objective(ObjectiveKind kind, models::Architecture architecture, const cli::Arguments& arguments) {
  const bool decoder = architecture == models::Architecture::decoder;
  check<UsageError>(kind != ObjectiveKind::causal || decoder,
                    "--objective causal is for decoders: an encoder sees the tokens it would have to predict");
  check<UsageError>(kind != ObjectiveKind::masked || !decoder,
                    "--objective masked is for encoders: add --arch encoder");
  if (decoder) refuse_masking(arguments, ": only encoders mask; add --arch encoder or leave it out");
}

void refuse_masking(const cli::Arguments& arguments, const std::string& reason) {
  refuse({"masking", "mask_probability", "whole_words", "segment_pairs"}, arguments, reason);
}

std::unique_ptr<training::Objective> make_objective(models::Model& model, const TrainingTexts& texts,
                                                    const data::MaskingOptions& masking, const training::Plan& plan) {
  if (auto* const decoder = dynamic_cast<models::Decoder*>(&model)) {
    return std::make_unique<training::Causal>(*decoder, texts.train, texts.valid, plan);
  }
  data::MaskVocabulary vocabulary = texts.tokenizer != nullptr
                                        ? data::MaskVocabulary(*texts.tokenizer, texts.train.name())
                                        : data::MaskVocabulary(model.config().vocab_size);
  return std::make_unique<training::Masked>(
      dynamic_cast<models::Encoder&>(model),
      training::MaskedTexts{texts.train, texts.valid, std::move(vocabulary), masking}, plan);
}

}  // namespace heddle
