// Base of objectives on windows of a text: a sample is one window of the model's training length.
#pragma once

#include <vector>

#include "libcore/models/model.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle::training {

// Role: what the model must be able to do. Windows: data::TrainingWindows or data::MaskedWindows.
template <class Role, class Windows>
class WindowObjective : public Objective {
 public:
  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override {
    return {.dropout = model_.config()->dropout, .sample_positions = role_.training_length()};
  }
  Index samples_per_epoch() const override { return windows_.windows_per_epoch(); }
  std::vector<Origin> origins(Index first, Index count) const override {
    std::vector<Origin> origins;
    for (Index i = 0; i < count; ++i) origins.push_back(origin_of(windows_.source(), windows_.offset_of(first + i)));
    return origins;
  }
  double flops_per_unit() const override { return role_.training_flops_per_token(role_.training_length(), predicted_); }

 protected:
  // predicted: the fraction of all tokens that are predicted. make_windows(role) returns the windows. Throws
  // UsageError, which names the objective, for a model without the role.
  template <class MakeWindows>
  WindowObjective(models::Model& model, const char* objective, const TrainingOptions& options, double predicted,
                  const MakeWindows& make_windows)
      : model_(model),
        role_(models::require<Role>(model, objective, "training")),
        options_(options),
        predicted_(predicted),
        windows_(make_windows(role_)) {}

  models::Model& model_;
  const Role& role_;  // the same
  TrainingOptions options_;
  double predicted_;
  Windows windows_;
};

}  // namespace heddle::training
