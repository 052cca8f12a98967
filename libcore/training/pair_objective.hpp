// Objectives on pairs of texts: predict each token of a target text from its source text and the target tokens before
// it, which are given (teacher forcing; SPEC 4.1). The source is read apart by sequence-to-sequence models; models that
// predict next tokens read both as one text, of which the loss counts the target alone.
#pragma once

#include <optional>

#include "libcore/data/pair_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/pair_loss.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle::training {

struct PairData {
  const data::PairSource& train;
  const data::PairSource* valid;  // may be null
  data::PairFrames frames;
};

class PairObjective : public Objective {
 public:
  // `reader`: the same model. Throws DataError for unsuitable pairs and models.
  PairObjective(models::Model& model, const PairModel& reader, const PairData& data, const data::PairOptions& options,
                const TrainingConfig& config);

  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override;
  // A sample is a group of pairs.
  Index samples_per_epoch() const override { return groups_.groups_per_epoch(); }
  Index samples_per_batch(Index) const override { return 1; }
  MicroBatch batch(Index first, Index count) const override;
  std::vector<Origin> origins(Index first, Index count) const override;
  DataKind data_kind() const override { return DataKind::pairs; }
  double flops_per_unit() const override;
  bool can_evaluate() const override { return valid_.has_value(); }
  std::vector<Metric> evaluate(const Evaluators& by) const override;

  std::string note() const override;

 protected:
  const data::PairGroups& groups() const { return groups_; }

 private:
  models::Model& model_;
  PairModel reader_;  // the same
  data::PairGroups groups_;
  std::optional<data::PairGroups> valid_;
  TrainingOptions options_;
};

}  // namespace heddle::training
