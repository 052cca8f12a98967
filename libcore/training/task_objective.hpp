// Fine-tuning: the objective of a task with labelled examples.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/data/masking.hpp"
#include "libcore/data/task_examples.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle::training {

// The mean loss over the examples of a step, recorded when recording, [1] (SPEC 4.4):
//   classify, pair   cross-entropy of the class
//   multilabel       mean over the labels of the binary cross-entropy of whether the text has the label
//   regress          squared error of the number, in units of stddev
//   label            mean cross-entropy over the tagged words
//   span             mean of the cross-entropies of the answer's first and last position, among those of the context
//                    and [CLS], which stands for no answer
// divisor: the targets of the whole step; 0 means of these examples. Smoothing and class weights as ops::CrossEntropy
// has them, for classes; positions use neither.
struct TaskLoss {
  double divisor = 0, label_smoothing = 0;
  std::vector<double> class_weights{};
};
Variable task_loss(const models::TaskModel& model, std::span<const data::TaskExample* const> examples, const Pass& pass,
                   const TaskLoss& options);

// The number of targets: one per example, for tags one per tagged word.
Index targets_of(const data::TaskExample& example, models::Task task);

// Weights that give every class the same total weight, 1 on average over the examples: n / (classes n_c).
// Source: King and Zeng 2001. A class without examples has weight 0.
std::vector<double> balanced_weights(std::span<const data::TaskExample> examples, Index classes, models::Task task);

// Replaces each token by the mask token with this probability, anew in every epoch; special tokens are kept.
// Source: Iyyer et al. 2015, "Deep unordered composition rivals syntactic methods" (word dropout).
struct PieceDropout {
  double rate;
  data::MaskVocabulary vocabulary;
};

// The examples' texts are predicted too, as in pre-training: masked tokens by models that predict these, selected anew
// in every epoch, else each next token. The mean loss of these tokens is added to the task's with this weight. Source:
// Radford et al. 2018, "Improving language understanding by generative pre-training", 3.2 (weight 0.5).
struct AuxiliaryText {
  double weight;
  std::optional<data::MaskVocabulary> vocabulary;  // set if tokens are masked
};

class TaskObjective : public Objective {
 public:
  // Computes the metrics of the validation examples; empty without any.
  using Evaluate = std::function<std::vector<Metric>(const Evaluators& by)>;

  // Throws DataError where there is no example.
  TaskObjective(models::TaskModel& model, std::vector<data::TaskExample> examples, const TrainingConfig& config,
                std::vector<double> class_weights, Evaluate evaluate, Better better);
  void drop_pieces(PieceDropout dropout) { dropout_.emplace(std::move(dropout)); }
  void predict_text(AuxiliaryText text) { text_.emplace(std::move(text)); }

  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override;
  Index samples_per_epoch() const override { return static_cast<Index>(examples_.size()); }
  // No example is in a batch twice.
  Index samples_per_batch(Index batch_size) const override { return std::min(batch_size, samples_per_epoch()); }
  MicroBatch batch(Index first, Index count) const override;
  std::vector<Origin> origins(Index first, Index count) const override;
  DataKind data_kind() const override { return model_.reads_graphs() ? DataKind::graphs : DataKind::text; }
  double flops_per_unit() const override;
  bool can_evaluate() const override { return static_cast<bool>(evaluate_); }
  std::vector<Metric> evaluate(const Evaluators& by) const override { return evaluate_(by); }
  Better better() const override { return better_; }

 private:
  // The prediction targets of a text.
  struct TextExample {
    data::TaskExample example;  // with masks applied
    data::Masked predicted;
  };
  const std::vector<Index>& order_of(Index epoch) const;
  const data::TaskExample& example_of(Index sample) const;
  std::vector<TextExample> text_examples(const std::vector<const data::TaskExample*>& examples, Index first) const;
  Variable text_loss(const std::vector<TextExample>& texts, const Pass& pass, const Counts& step) const;
  const heads::TokenHead& token_head() const;
  data::TaskExample without_pieces(const data::TaskExample& example, Index sample) const;

  models::TaskModel& model_;
  std::vector<data::TaskExample> examples_;
  TrainingConfig config_;
  std::vector<double> class_weights_;
  std::optional<PieceDropout> dropout_;
  std::optional<AuxiliaryText> text_;
  Evaluate evaluate_;
  Better better_;
  Index longest_ = 0;  // tokens of an example
  mutable Index epoch_ = -1;
  mutable std::vector<Index> order_;  // order of the epoch
};

}  // namespace heddle::training
