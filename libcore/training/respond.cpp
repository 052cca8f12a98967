// The objective of responses: the text that follows a prompt, which is given, such as the steps to an answer and the
// answer (SPEC 6.5; Wei et al. 2022, "Chain-of-thought prompting elicits reasoning in large language models").
#include "libcore/training/objectives.hpp"
#include "libcore/training/pair_objective.hpp"

namespace heddle::training {

namespace {

// The prompt and its response are one text, which ends with the token that ends texts; an empty prompt is that token.
data::PairFrames frames_of(const text::Tokenizer* tokenizer, std::string_view name) {
  data::PairFrames frames{{}, {}, 0, true};
  if (tokenizer == nullptr) return frames;
  const std::optional<TokenId> end = tokenizer->end_of_text();
  check<DataError>(end.has_value(), name,
                   ": its tokenizer has no token that ends a text, so that no response would end");
  frames.start = frames.target.end = *end;
  return frames;
}

struct RespondSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "respond";
  data::PairOptions pairs;
  std::string mark = " #### ";

  void validate() const override { check<UsageError>(!mark.empty(), "`objective`: mark is empty"); }

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    const auto& model = models::require<models::TokenLoss>(inputs.model, "the respond objective", "training");
    const data::PairFrames frames = frames_of(inputs.tokenizer, inputs.train.pairs->name());
    return std::make_unique<PairObjective>(
        inputs.model, model, PairData{*inputs.train.pairs, inputs.valid.pairs, frames}, pairs, inputs.config);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    const auto& model = models::require<models::TokenLoss>(inputs.model, "a pairs file", inputs.model_name);
    return evaluate_pairs(inputs, model, *inputs.data.pairs, frames_of(inputs.tokenizer, inputs.model_name));
  }

  Index batch_tokens() const override { return pairs.batch_tokens; }
  std::string answer_mark() const override { return mark; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    data::PairOptions::visit(self.pairs, visitor);
    visitor(Field("mark", "text between the steps of a record and its answer, in files that have both").takes("TEXT"),
            self.mark);
  }
};

}  // namespace

ObjectiveChoice respond_defaults() {
  return RespondSettings();
}

}  // namespace heddle::training
