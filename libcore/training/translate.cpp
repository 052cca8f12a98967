// The translation objective: a target text from its source text.
#include "libcore/training/objectives.hpp"
#include "libcore/training/pair_objective.hpp"

namespace heddle::training {

namespace {

struct TranslateSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "translate";
  data::PairOptions pairs;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    const auto& model = models::require<models::SequenceToSequence>(inputs.model, "translation", "training");
    const data::PairFrames frames = inputs.tokenizer == nullptr
                                        ? data::PairFrames{{}, {}, model.start_token().value_or(0)}
                                        : pair_frames(model, *inputs.tokenizer, inputs.source_tokenizer);
    return std::make_unique<PairObjective>(
        inputs.model, model, PairData{*inputs.train.pairs, inputs.valid.pairs, frames}, pairs, inputs.config);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    const auto& model = models::require<models::SequenceToSequence>(inputs.model, "a pairs file", inputs.model_name);
    return evaluate_pairs(inputs, model, *inputs.data.pairs,
                          pair_frames(model, *inputs.tokenizer, inputs.source_tokenizer));
  }

  Index batch_tokens() const override { return pairs.batch_tokens; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    data::PairOptions::visit(self.pairs, visitor);
  }
};

}  // namespace

ObjectiveChoice translate_defaults() {
  return TranslateSettings();
}

}  // namespace heddle::training
