#include "tools/generate/scoring_models.hpp"

namespace heddle {

namespace {

bool share_tokenizers(const formats::LoadedModel& a, const formats::LoadedModel& b) {
  return a.tokenizer.model() == b.tokenizer.model() && a.of_sources().model() == b.of_sources().model();
}

}  // namespace

std::vector<formats::LoadedModel> load_scoring_models(const std::vector<std::string>& files, const std::string& base) {
  check<UsageError>(files.size() == 1 || base.empty(),
                    "--base: is for one adapter; of several each must be beside its base");
  std::vector<formats::LoadedModel> models;
  for (const std::string& file : files) {
    models.push_back(formats::load_language_model(file, base));
    check<DataError>(share_tokenizers(models.front(), models.back()), file, ": has another tokenizer than ",
                     files.front(), "; models that score texts together need the same");
  }
  return models;
}

}  // namespace heddle
