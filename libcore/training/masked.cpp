#include "libcore/training/masked.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/base/values.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/masked_nodes.hpp"
#include "libcore/training/not_finite.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

std::vector<char> rows_right(const Tensor& logits, const std::vector<TokenId>& targets) {
  check_logits(logits);
  const Index classes = logits.shape()[-1];
  std::vector<char> is_right(targets.size());
  parallel_for(static_cast<Index>(targets.size()), [&](Index i) {
    const Real* row = logits.data() + i * classes;
    const auto at = static_cast<std::size_t>(i);
    is_right[at] = std::max_element(row, row + classes) - row == targets[at] ? 1 : 0;
  });
  return is_right;
}

namespace {

Index count_right(const Tensor& logits, const std::vector<TokenId>& targets) {
  return std::ranges::count(rows_right(logits, targets), 1);
}

}  // namespace

const data::TokenSource& checked_source(const models::TokenModel& model, const data::TokenSource& tokens,
                                        const data::MaskVocabulary& vocabulary) {
  check_vocabulary(model, tokens);
  check<DataError>(static_cast<Index>(vocabulary.is_special.size()) >= tokens.vocab_size(), tokens.name(),
                   ": vocabulary of ", tokens.vocab_size(), " is not the tokenizer's ", vocabulary.is_special.size());
  return tokens;
}

models::Sequences sequences_of(const data::MaskedBatch& batch) {
  return {TokenIds(Shape{batch.batch, batch.time}, batch.ids), batch.lengths, batch.segments};
}

data::MaskVocabulary mask_vocabulary(const ObjectiveInputs& inputs) {
  return inputs.tokenizer != nullptr ? data::MaskVocabulary(*inputs.tokenizer, inputs.train.text->name())
                                     : data::MaskVocabulary(inputs.model.tokens().vocab_size());
}

data::MaskedWindows training_windows(const ObjectiveInputs& inputs, const data::MaskingOptions& masking,
                                     const std::optional<data::PermutationOptions>& permutation) {
  const data::MaskVocabulary vocabulary = mask_vocabulary(inputs);
  return {checked_source(inputs.model.tokens(), *inputs.train.text, vocabulary),
          vocabulary,
          {.time = inputs.model.tokens().training_length(),
           .masking = masking,
           .has_segments = inputs.model.config().tokens().has_segments(),
           .permutation = permutation,
           .seed = inputs.config.seed}};
}

void count_predictions(const Tensor& logits, const std::vector<TokenId>& targets, MaskedEvaluation& sum) {
  for (const double nats : ops::negative_log_likelihoods(logits, targets)) sum.nats += nats;
  sum.tokens += static_cast<Index>(targets.size());
  sum.right += count_right(logits, targets);
}

Counts counts_of(const data::MaskedBatch& batch) {
  return {batch.batch, batch.tokens, static_cast<Index>(batch.targets.size())};
}

Variable masked_loss(const models::MaskedPredictor& model, const data::MaskedBatch& batch, const Pass& pass,
                     const Counts& step, double label_smoothing) {
  const Variable hidden = model.masked_hidden(sequences_of(batch), pass);
  const Variable masked = model.masked_token_head().loss(ops::gather_rows(hidden, batch.rows), batch.targets,
                                                         {label_smoothing, static_cast<double>(step.targets)});
  if (!model.has_next_sentence()) return masked;
  const Variable logits = model.next_sentence(hidden);
  return ops::add(masked, ops::cross_entropy(logits, batch.unrelated, {0, static_cast<double>(step.samples)}));
}

data::MaskedWindows evaluation_windows(const models::MaskedPredictor& model, const data::TokenSource& tokens,
                                       const data::MaskVocabulary& vocabulary, Index time) {
  return {checked_source(model, tokens, vocabulary),
          vocabulary,
          {.time = time > 0 ? time : model.training_length(),
           .masking = {.probability = evaluated_masking},
           .unrelated_pairs = model.has_next_sentence()}};
}

MaskedEvaluation& MaskedEvaluation::operator+=(const MaskedEvaluation& other) {
  tokens += other.tokens;
  right += other.right;
  nats += other.nats;
  pairs += other.pairs;
  pairs_right += other.pairs_right;
  return *this;
}

MaskedEvaluation evaluate(const models::MaskedPredictor& model, const data::MaskedWindows& windows, Index limit,
                          Index batch_size, const Evaluators& by) {
  return sum_of_windows<MaskedEvaluation>(windows, limit, batch_size, by, [&](const data::MaskedBatch& batch, Index) {
    MaskedEvaluation part;
    const Variable hidden = model.masked_hidden(sequences_of(batch));
    const Tensor logits = model.masked_token_head()(ops::gather_rows(hidden, batch.rows)).value();
    count_predictions(logits, batch.targets, part);
    if (!model.has_next_sentence()) return part;
    part.pairs = batch.batch;
    part.pairs_right = count_right(model.next_sentence(hidden).value(), batch.unrelated);
    return part;
  });
}

Masked::Masked(models::Model& model, const MaskedTexts& texts, const TrainingConfig& config)
    : WindowObjective(model, "the masked objective", config.training, texts.masking.probability,
                      [&](const models::MaskedPredictor& role) {
                        return data::MaskedWindows(checked_source(role, texts.train, texts.vocabulary),
                                                   texts.vocabulary,
                                                   {.time = role.training_length(),
                                                    .masking = texts.masking,
                                                    .unrelated_pairs = role.has_next_sentence(),
                                                    .has_segments = model.config().tokens().has_segments(),
                                                    .seed = config.seed});
                      }) {
  if (texts.valid != nullptr) valid_.emplace(evaluation_windows(role_, *texts.valid, texts.vocabulary));
}

MicroBatch Masked::batch(Index first, Index count) const {
  data::MaskedBatch batch = windows_.batch(first, count);
  const Counts counts = counts_of(batch);
  return {counts, [this, batch = std::move(batch)](const Pass& pass, const Counts& step) {
            return masked_loss(role_, batch, pass, step, options_.label_smoothing);
          }};
}

std::optional<double> Masked::frequency_loss() const {
  if (role_.has_next_sentence() || options_.label_smoothing > 0) return std::nullopt;
  return token_frequencies(windows_.source()).entropy;
}

std::string Masked::note() const {
  if (!valid_ || predicted_ <= evaluated_masking) return "";
  const auto percent = [](double fraction) { return format(std::round(1000 * fraction) / 10); };
  return concatenate("training masks ", percent(predicted_), " % of the tokens and validation ",
                     percent(evaluated_masking), " %, as BERT does, so that its loss is lower");
}

std::vector<Metric> Masked::evaluate(const Evaluators& by) const {
  const MaskedEvaluation result = training::evaluate(role_, *valid_, options_.eval_tokens, options_.batch_size, by);
  std::vector<Metric> metrics{{"loss", result.nats_per_token()}, {"accuracy", result.accuracy()}};
  if (result.pairs > 0) metrics.push_back({"next_sentence_accuracy", result.pair_accuracy()});
  return metrics;
}

namespace {

void check_masks_alone(const models::Model& model) {
  check<UsageError>(model.as<models::MixedPredictor>() == nullptr,
                    "`objective` masked leaves out the next tokens that this model predicts, too; choose mixed");
}

}  // namespace

ObjectiveEvaluation evaluate_masked(const EvaluationInputs& inputs) {
  check_masks_alone(inputs.model);
  refuse_other_windows(inputs);
  const auto& model = models::require<models::MaskedPredictor>(inputs.model, "the masked objective", inputs.model_name);
  const data::TokenSource& tokens = *inputs.data.text;
  const data::MaskVocabulary vocabulary(*inputs.tokenizer, tokens.name());
  const MaskedEvaluation result = evaluate(model, evaluation_windows(model, tokens, vocabulary, inputs.sequence_length),
                                           0, inputs.batch_size, counting_batches(inputs, inputs.batch_size));
  ObjectiveEvaluation all{.targets = result.tokens, .nats = result.nats, .metrics = {{"accuracy", result.accuracy()}}};
  if (result.pairs > 0) all.metrics.push_back({"next_sentence_accuracy", result.pair_accuracy()});
  return all;
}

namespace {

struct MaskedSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "masked";
  data::MaskingOptions masking;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    if (inputs.train.graphs != nullptr) {
      return std::make_unique<MaskedNodes>(inputs.model, *inputs.train.graphs, inputs.valid.graphs, masking,
                                           inputs.config);
    }
    check<UsageError>(inputs.model.as<models::ReplacementDetector>() == nullptr,
                      "`objective` masked would train the generator alone; choose detect, or leave out "
                      "`generator_width` for a model without one");
    check_masks_alone(inputs.model);
    return std::make_unique<Masked>(
        inputs.model, MaskedTexts{*inputs.train.text, inputs.valid.text, mask_vocabulary(inputs), masking},
        inputs.config);
  }
  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    return inputs.data.graphs != nullptr ? evaluate_masked_nodes(inputs) : evaluate_masked(inputs);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    data::MaskingOptions::visit(self.masking, visitor);
  }
};

}  // namespace

ObjectiveChoice masked_defaults() {
  return MaskedSettings();
}

}  // namespace heddle::training
