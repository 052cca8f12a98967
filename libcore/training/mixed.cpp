#include "libcore/training/mixed.hpp"

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/training/causal.hpp"

namespace heddle::training {

namespace {

data::MaskVocabulary vocabulary_of(const ObjectiveInputs& inputs) {
  return inputs.tokenizer != nullptr ? data::MaskVocabulary::of_windows(*inputs.tokenizer, inputs.train.text->name())
                                     : data::MaskVocabulary(inputs.model.tokens().vocab_size());
}

struct MixedOptions {
  double causal;
  data::MaskingOptions masking;
};

class Mixed : public WindowObjective<models::MixedPredictor, data::MixedWindows> {
 public:
  // Throws DataError and UsageError for tokens and models that cannot work.
  Mixed(const ObjectiveInputs& inputs, const MixedOptions& options)
      : WindowObjective(inputs.model, "the mixed objective", inputs.config.training,
                        options.causal + (1 - options.causal) * options.masking.probability,
                        [&](const models::MixedPredictor& role) { return windows_of(role, inputs, options); }),
        causal_(options.causal),
        vocabulary_(vocabulary_of(inputs)),
        valid_(inputs.valid.text) {
    if (valid_ != nullptr) (void)checked_source(role_, *valid_, vocabulary_);
  }

  MicroBatch batch(Index first, Index count) const override {
    data::MixedWindows::Batch batch = windows_.batch(first, count);
    const Index time = role_.training_length(), causal = windows_.causal_of_step(first);
    const Index targets = batch.causal.batch * time + static_cast<Index>(batch.masked.targets.size());
    return {{count, count * time, targets},
            [this, causal, batch = std::move(batch)](const Pass& pass, const Counts& step) {
              return mixed_loss(role_, batch, pass, step, causal, options_.label_smoothing);
            }};
  }

  std::optional<double> frequency_loss() const override {
    if (options_.label_smoothing > 0) return std::nullopt;
    return token_frequencies(windows_.source()).entropy;
  }

  bool can_evaluate() const override { return valid_ != nullptr; }
  // The mean of both losses as in training, and each of them; the accuracy of masked tokens.
  std::vector<Metric> evaluate(const Evaluators& by) const override {
    const MixedEvaluation result = training::evaluate(
        role_, *valid_, vocabulary_, {.limit = options_.eval_tokens, .batch_size = options_.batch_size, .by = by});
    const double next = result.next_loss(), masked = result.masked.nats_per_token();
    return {{"loss", causal_ * next + (1 - causal_) * masked},
            {"causal_loss", next},
            {"masked_loss", masked},
            {"accuracy", result.masked.accuracy()}};
  }

 private:
  static data::MixedWindows windows_of(const models::MixedPredictor& role, const ObjectiveInputs& inputs,
                                       const MixedOptions& options) {
    const data::MaskVocabulary vocabulary = vocabulary_of(inputs);
    check<UsageError>(role.training_length() >= 2, "`sequence_length` = ", role.training_length(),
                      ": a token is predicted at the one before it, so "
                      "that a window needs two");
    return {checked_source(role, *inputs.train.text, vocabulary),
            vocabulary,
            {.time = role.training_length(),
             .causal = options.causal,
             .samples_per_step = inputs.config.training.samples_per_step(),
             .masking = options.masking,
             .seed = inputs.config.seed}};
  }

  double causal_;
  data::MaskVocabulary vocabulary_;
  const data::TokenSource* valid_;
};

}  // namespace

Variable mixed_loss(const models::MixedPredictor& model, const data::MixedWindows::Batch& batch, const Pass& pass,
                    const Counts& step, Index causal, double label_smoothing) {
  const auto samples = static_cast<double>(step.samples);
  Variable next;
  if (batch.causal.batch > 0) {
    const double divisor = samples * static_cast<double>(batch.causal.time);
    next = causal_loss(model.from_left(), batch.causal, pass, {label_smoothing, divisor});
  }
  if (batch.masked.batch == 0) return next;
  Pass rest = pass;
  rest.first_sample += batch.causal.batch;
  const models::MaskedPredictor& both = model.from_both_sides();
  const auto masked = static_cast<double>(step.targets - causal * batch.masked.time);
  const double divisor = masked * samples / (samples - static_cast<double>(causal));
  const Variable hidden = ops::gather_rows(both.masked_hidden(sequences_of(batch.masked), rest), batch.masked.rows);
  const Variable loss = both.masked_token_head().loss(hidden, batch.masked.targets, {label_smoothing, divisor});
  return next.empty() ? loss : ops::add(next, loss);
}

MixedEvaluation evaluate(const models::MixedPredictor& model, const data::TokenSource& tokens,
                         const data::MaskVocabulary& vocabulary, const MixedEvaluationRun& run) {
  const Index time = run.time > 0 ? run.time : model.training_length();
  const Evaluation next = evaluate(model.from_left(), tokens,
                                   {.time = time, .limit = run.limit, .batch_size = run.batch_size, .by = run.by});
  MixedEvaluation result{next.tokens, next.nats, {}};
  const models::MaskedPredictor& both = model.from_both_sides();
  Index first = 0;
  BatchSum<MaskedEvaluation> sum(run.by);
  data::for_each_evaluation_batch(
      tokens, {.time = time, .batch = run.batch_size, .limit = run.limit}, [&](const data::TokenBatch& windows) {
        if (windows.time < 2 || sum.is_over()) return;
        const data::MaskedBatch batch = data::masked_copy(windows, vocabulary, {.probability = 0.15}, 0, first);
        first += windows.batch;
        if (batch.rows.empty()) return;  // as for a last window of one token and an end of text
        (void)sum.add([&] {
          MaskedEvaluation part;
          const Variable hidden = ops::gather_rows(both.masked_hidden(sequences_of(batch)), batch.rows);
          count_predictions(both.masked_token_head()(hidden).value(), batch.targets, part);
          return part;
        });
      });
  result.masked = sum.total();
  check<DataError>(sum.is_over() || result.masked.tokens > 0, tokens.name(),
                   ": has nothing to mask after the first tokens of its windows");
  return result;
}

namespace {

struct MixedSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "mixed";
  double causal = 0.0625;
  data::MaskingOptions masking;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    return std::make_unique<Mixed>(inputs, MixedOptions{causal, masking});
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    check<UsageError>(inputs.stride == 0 && inputs.memory.value_or(0) == 0, inputs.stride > 0 ? "`stride`" : "`memory`",
                      ": masked tokens are predicted in windows without overlap; choose `objective` = causal for the "
                      "next tokens alone");
    const auto& model = models::require<models::MixedPredictor>(inputs.model, "the mixed objective", inputs.model_name);
    const data::TokenSource& tokens = *inputs.data.text;
    const auto vocabulary = data::MaskVocabulary::of_windows(*inputs.tokenizer, tokens.name());
    const MixedEvaluation result = training::evaluate(model, checked_source(model, tokens, vocabulary), vocabulary,
                                                      {.time = inputs.sequence_length,
                                                       .batch_size = inputs.batch_size,
                                                       .by = counting_batches(inputs, inputs.batch_size)});
    return {
        .targets = result.tokens,
        .nats = result.nats,
        .covers_text = true,
        .metrics = {{"masked_loss", result.masked.nats_per_token()}, {"masked_accuracy", result.masked.accuracy()}}};
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("causal",
                  "fraction of the sequences that are read from left to right, to predict each next token; the others "
                  "are read as a whole, to predict masked tokens")
                .above(0, 0.999)
                .takes("P"),
            self.causal);
    visitor(Field("masked",
                  "fraction of the tokens to predict in the other sequences; 80 % of them are masked, 10 % replaced by "
                  "random tokens, 10 % kept")
                .above(0, 1)
                .takes("P"),
            self.masking.probability);
  }
};

}  // namespace

ObjectiveChoice mixed_defaults() {
  return MixedSettings();
}

}  // namespace heddle::training
