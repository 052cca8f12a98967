#include "tools/finetune/text_task.hpp"

#include "formats/heddle/token_file.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/lines/encoded_text.hpp"

namespace heddle {

namespace {

std::unique_ptr<data::TokenSource> open_tokens(const std::string& path, const text::Tokenizer& tokenizer,
                                               const std::string& model, const cli::Arguments& arguments) {
  if (!formats::looks_like_hdf5(path)) return encode_text(path, tokenizer, Documents::file, arguments);
  auto tokens = std::make_unique<formats::TokenFile>(path);
  tokens->check_made_with(tokenizer, model);
  return tokens;
}

}  // namespace

TextTask::TextTask(const FinetuneOptions& options, const RunSpec& spec, const formats::ModelFile& base,
                   const cli::Arguments& arguments)
    : objective_(*spec.objective), tokenizer_(base.tokenizer()) {
  if (formats::has_source_tokenizer(base.file())) {
    source_tokenizer_ = formats::read_tokenizer(base.file(), formats::Side::source);
  }
  const Validation valid = validation(options.valid);
  const std::vector<TrainingFile> files = training_files(options.train);
  std::vector<std::unique_ptr<data::TokenSource>> train;
  for (const TrainingFile& file : files) train.push_back(open_tokens(file.path, tokenizer_, options.from, arguments));
  std::unique_ptr<data::TokenSource> valid_file;
  if (!valid.file.empty()) valid_file = open_tokens(valid.file, tokenizer_, options.from, arguments);
  tokens_.emplace(std::move(train), files, std::move(valid_file), valid);
}

std::unique_ptr<training::Objective> TextTask::objective(models::TaskModel& model,
                                                         const training::TrainingConfig& config) {
  training::ObjectiveInputs inputs{.model = model.body(), .train = {}, .config = config};
  inputs.train.text = &tokens_->train();
  inputs.valid.text = tokens_->valid();
  inputs.tokenizer = &tokenizer_;
  if (source_tokenizer_) inputs.source_tokenizer = &*source_tokenizer_;
  return training::make_objective(objective_, inputs);
}

EvaluationSample TextTask::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) {
  return sample_tokens(config, tokens_->valid() != nullptr ? tokens_->valid()->size() : 0,
                       model.tokens().training_length());
}

std::string TextTask::summary() const {
  const Index tokens = tokens_->train().size();
  return grouped(tokens) + (tokens == 1 ? " token" : " tokens");
}

}  // namespace heddle
