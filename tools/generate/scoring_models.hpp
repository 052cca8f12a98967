// The models with which generate --score scores texts: one, or several that share a tokenizer.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "formats/heddle/task_file.hpp"

namespace heddle {

// Throws DataError for models with other tokenizers than the first.
std::vector<formats::LoadedModel> load_scoring_models(const std::vector<std::string>& files, const std::string& base);

template <class Role>
class ScoringModels {
 public:
  // `models` and `files`, of which there is at least one, must outlive this object. Throws UsageError for one without
  // the role.
  ScoringModels(const std::vector<formats::LoadedModel>& models, const std::vector<std::string>& files)
      : first_(models.front()) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      all_.push_back(&models::require<Role>(*models[i].model, "--score", files[i]));
    }
  }

  const formats::LoadedModel& first() const { return first_; }  // for the tokenizers, which all share
  const std::vector<const Role*>& all() const { return all_; }
  // The one with the shortest context.
  const Role& shortest() const {
    return **std::ranges::min_element(all_, {}, [](const Role* model) { return model->position_limit(); });
  }

 private:
  const formats::LoadedModel& first_;
  std::vector<const Role*> all_;
};

}  // namespace heddle
