#include "libcore/training/detect.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/binary_cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/not_finite.hpp"

namespace heddle::training {

namespace {

// The class at which the cumulative softmax exceeds a number in [0, 1); the last one where logits are not finite.
TokenId draw(const Real* logits, Index classes, double number) {
  constexpr Index run = 256;
  const Real maximum = maximum_of(logits, classes);
  double left = number * sum_of_exponentials(logits, maximum, classes);
  for (Index begin = 0; begin < classes; begin += run) {
    const Index count = std::min(run, classes - begin);
    const double sum = sum_of_exponentials(logits + begin, maximum, count);
    if (left >= sum && begin + count < classes) {
      left -= sum;
      continue;
    }
    for (Index i = begin; i < begin + count; ++i) {
      left -= math::exp(logits[i] - maximum);
      if (left < 0) return static_cast<TokenId>(i);
    }
  }
  return static_cast<TokenId>(classes - 1);
}

std::vector<Index> rows_of(const data::MaskedBatch& batch) {
  std::vector<Index> rows;
  for (Index sample = 0; sample < batch.batch; ++sample) {
    const Index length = batch.lengths.empty() ? batch.time : batch.lengths[static_cast<std::size_t>(sample)];
    for (Index position = 0; position < length; ++position) rows.push_back(sample * batch.time + position);
  }
  return rows;
}

// The logits that the generator gives for masked tokens, [masked tokens, vocab].
Variable proposals(const models::MaskedPredictor& generator, const data::MaskedBatch& batch, const Pass& pass) {
  const Variable hidden = generator.masked_hidden(sequences_of(batch), pass);
  return generator.masked_token_head()(ops::gather_rows(hidden, batch.rows));
}

// The logits of "replaced", [tokens, 1].
Variable judgements(const models::ReplacementDetector& model, const ReplacedTokens& text, const Pass& pass) {
  return model.replaced(ops::gather_rows(model.hidden(text.sequences, pass), text.rows));
}

class Detect : public WindowObjective<models::ReplacementDetector, data::MaskedWindows> {
 public:
  // Throws DataError and UsageError for tokens and models that cannot work.
  Detect(const ObjectiveInputs& inputs, const data::MaskingOptions& masking, double weight)
      : WindowObjective(inputs.model, "the detection objective", inputs.config.training, masking.probability,
                        [&](const models::ReplacementDetector&) { return training_windows(inputs, masking); }),
        weight_(weight) {
    if (inputs.valid.text == nullptr) return;
    valid_.emplace(evaluation_windows(role_.generator(), *inputs.valid.text, mask_vocabulary(inputs)));
  }

  MicroBatch batch(Index first, Index count) const override {
    data::MaskedBatch batch = windows_.batch(first, count);
    const Counts counts = counts_of(batch);
    return {counts, [this, batch = std::move(batch)](const Pass& pass, const Counts& step) {
              return detection_loss(role_, batch, pass, step, weight_, options_.label_smoothing);
            }};
  }

  // Masked tokens that are drawn by their frequencies replace them, but for those that are the same; what is replaced
  // is detected by its frequency alone.
  std::optional<double> frequency_loss() const override {
    if (options_.label_smoothing > 0) return std::nullopt;
    const TokenFrequencies tokens = token_frequencies(windows_.source());
    const double replaced = predicted_ * (1 - tokens.agreement);
    const double detection =
        replaced > 0 ? -replaced * std::log(replaced) - (1 - replaced) * std::log1p(-replaced) : 0.0;
    return tokens.entropy + weight_ * detection;
  }

  bool can_evaluate() const override { return valid_.has_value(); }
  // The loss and the accuracy of the generator's masked tokens, those of detection, and the fraction of tokens
  // replaced.
  std::vector<Metric> evaluate(const Evaluators& by) const override {
    const DetectionEvaluation result =
        evaluate_detection(role_, *valid_, options_.eval_tokens, options_.batch_size, by);
    const auto tokens = static_cast<double>(std::max<Index>(1, result.tokens));
    return {{"loss", result.masked.nats_per_token()},
            {"accuracy", result.masked.accuracy()},
            {"detection_loss", result.nats / tokens},
            {"detection_accuracy", static_cast<double>(result.right) / tokens},
            {"replaced_fraction", static_cast<double>(result.replaced) / tokens}};
  }

 private:
  std::optional<data::MaskedWindows> valid_;
  double weight_;
};

}  // namespace

ReplacedTokens replace_masked(const data::MaskedBatch& batch, const Tensor& logits, const Pass& pass) {
  const RandomStream stream(pass.seed, random_site("replaced tokens"), pass.step);
  const Index vocab = logits.shape()[-1];
  std::vector<TokenId> drawn = batch.targets;
  parallel_for(static_cast<Index>(drawn.size()), [&](Index i) {
    const Index row = batch.rows[static_cast<std::size_t>(i)];
    const Index number = pass.position_number(row / batch.time, row % batch.time, batch.time);
    drawn[static_cast<std::size_t>(i)] =
        draw(logits.data() + i * vocab, vocab, stream.uniform(static_cast<std::uint64_t>(number)));
  });
  ReplacedTokens result{sequences_of(batch), rows_of(batch), {}};
  std::vector<char> is_replaced(batch.ids.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto row = static_cast<std::size_t>(batch.rows[i]);
    result.sequences.ids.ids[row] = drawn[i];
    is_replaced[row] = drawn[i] != batch.targets[i] ? 1 : 0;
  }
  for (const Index row : result.rows) result.replaced.push_back(is_replaced[static_cast<std::size_t>(row)]);
  return result;
}

Variable detection_loss(const models::ReplacementDetector& model, const data::MaskedBatch& batch, const Pass& pass,
                        const Counts& step, double detection_weight, double label_smoothing) {
  const Variable logits = proposals(model.generator(), batch, pass);
  const ReplacedTokens text = replace_masked(batch, logits.value(), pass);
  const Variable masked =
      ops::cross_entropy(logits, batch.targets, {label_smoothing, static_cast<double>(step.targets)});
  const Variable detection = ops::binary_cross_entropy(judgements(model, text, pass), text.replaced,
                                                       static_cast<double>(step.units) / detection_weight);
  return ops::add(masked, detection);
}

DetectionEvaluation& DetectionEvaluation::operator+=(const DetectionEvaluation& other) {
  masked += other.masked;
  tokens += other.tokens;
  right += other.right;
  replaced += other.replaced;
  nats += other.nats;
  return *this;
}

DetectionEvaluation evaluate_detection(const models::ReplacementDetector& model, const data::MaskedWindows& windows,
                                       Index limit, Index batch_size, const Evaluators& by) {
  const auto of_batch = [&](const data::MaskedBatch& batch, Index first) {
    DetectionEvaluation part;
    const Tensor logits = proposals(model.generator(), batch, {}).value();
    count_predictions(logits, batch.targets, part.masked);
    const ReplacedTokens text =
        replace_masked(batch, logits, {.first_sample = first, .sample_positions = model.training_length()});
    const Tensor judged = judgements(model, text, {}).value();
    check_logits(judged);
    part.nats = ops::binary_nats(judged, text.replaced);
    part.tokens = static_cast<Index>(text.rows.size());
    for (std::size_t i = 0; i < text.rows.size(); ++i) {
      const bool is_replaced = text.replaced[i] != 0;
      part.replaced += is_replaced ? 1 : 0;
      part.right += (judged[static_cast<Index>(i)] > 0) == is_replaced ? 1 : 0;
    }
    return part;
  };
  return sum_of_windows<DetectionEvaluation>(windows, limit, batch_size, by, of_batch);
}

namespace {

struct DetectSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "detect";
  double weight = 50;
  data::MaskingOptions masking;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    return std::make_unique<Detect>(inputs, masking, weight);
  }
  // Evaluates the generator, as every model that predicts masked tokens.
  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override { return evaluate_masked(inputs); }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("weight", "weight of the loss of detecting replaced tokens, relative to the generator's loss")
                .above(0, 1e6)
                .formerly("detection_weight")
                .takes("X"),
            self.weight);
    data::MaskingOptions::visit(self.masking, visitor);
  }
};

}  // namespace

ObjectiveChoice detect_defaults() {
  return DetectSettings();
}

}  // namespace heddle::training
