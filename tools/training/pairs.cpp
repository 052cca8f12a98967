#include "tools/training/pairs.hpp"

#include <filesystem>

#include "formats/files/content_type.hpp"
#include "formats/heddle/file.hpp"

namespace heddle {

bool is_pairs_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && formats::looks_like_hdf5(path) &&
         formats::InputFile(path).kind() == formats::FileKind::pairs;
}

TrainingPairs::TrainingPairs(std::unique_ptr<data::PairSource> train, std::unique_ptr<data::PairSource> valid_file,
                             const Validation& valid)
    : train_(std::move(train)), valid_file_(std::move(valid_file)) {
  if (!valid.holds_out()) return;
  data::HeldOutPairs split = data::hold_out_pairs(*train_, valid.held_out);
  train_part_.emplace(*train_, std::move(split.train));
  valid_part_.emplace(*train_, std::move(split.valid));
}

}  // namespace heddle
