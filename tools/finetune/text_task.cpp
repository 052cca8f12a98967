#include "tools/finetune/text_task.hpp"

#include "heddle/formats/heddle/token_file.hpp"
#include "heddle/text/stream_encoder.hpp"
#include "heddle/training/objectives.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/files.hpp"

namespace heddle {

namespace {

// The tokens of a text as one document, as tokenize makes them.
std::unique_ptr<data::TokenSource> encoded_text(cli::Input input, const text::Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  text::StreamEncoder encoder(tokenizer, [&](const text::StreamEncoder::Part& part) {
    ids.insert(ids.end(), part.ids.begin(), part.ids.end());
  });
  try {
    std::vector<char> block(std::size_t{1} << 20);
    while (const std::size_t count = input.read(block)) encoder.add({block.data(), count});
    encoder.end_document();
    encoder.flush();
  } catch (const text::TextError& error) {
    throw DataError(concatenate(input.name(), ":", error.what()));
  }
  if (const auto end = tokenizer.end_of_text()) ids.push_back(*end);
  return std::make_unique<data::TokensInMemory>(std::move(ids), tokenizer.vocab_size(), input.name());
}

std::unique_ptr<data::TokenSource> open_tokens(const std::string& path, const text::Tokenizer& tokenizer,
                                               const std::string& model, const cli::Arguments& arguments) {
  if (!formats::looks_like_hdf5(path)) return encoded_text(arguments.open_text(path), tokenizer);
  auto tokens = std::make_unique<formats::TokenFile>(path);
  tokens->check_made_with(tokenizer, model);
  return tokens;
}

}  // namespace

TextTask::TextTask(const FinetuneOptions& options, const text::Tokenizer& tokenizer, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), tokenizer_(tokenizer) {
  std::vector<data::JoinedTokens::Source> sources;
  for (const auto& [path, weight] : training_files(options.train)) {
    files_.push_back(open_tokens(path, tokenizer, options.from, arguments));
    sources.push_back({*files_.back(), weight});
  }
  train_.emplace(std::move(sources));
  if (!options.valid.empty()) valid_ = open_tokens(options.valid, tokenizer, options.from, arguments);
}

std::unique_ptr<training::Objective> TextTask::objective(models::TaskModel& model,
                                                         const training::TrainingConfig& config) {
  return training::make_objective(choose_objective("auto", model.body(), arguments_),
                                  {.model = model.body(),
                                   .train = *train_,
                                   .valid = valid_.get(),
                                   .tokenizer = &tokenizer_,
                                   .masking = options_.setup.masking,
                                   .config = config});
}

EvaluationSample TextTask::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) {
  return sample_tokens(config, valid_ ? valid_->size() : 0, model->training_length());
}

std::string TextTask::summary() const {
  return grouped(train_->size()) + " tokens";
}

}  // namespace heddle
