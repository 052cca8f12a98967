#include "tools/training/pairs.hpp"

namespace heddle {

TrainingPairs::TrainingPairs(std::unique_ptr<data::PairSource> train, std::unique_ptr<data::PairSource> valid_file,
                             const Validation& valid)
    : train_(std::move(train)), valid_file_(std::move(valid_file)) {
  if (!valid.holds_out()) return;
  data::HeldOutNumbers split = data::hold_out_pairs(*train_, valid.held_out);
  train_part_.emplace(*train_, std::move(split.train));
  valid_part_.emplace(*train_, std::move(split.valid));
}

}  // namespace heddle
