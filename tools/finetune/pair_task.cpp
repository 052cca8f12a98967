#include "tools/finetune/pair_task.hpp"

#include "heddle/cli/streams.hpp"
#include "heddle/formats/heddle/pairs_file.hpp"
#include "heddle/training/objectives.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/training/choose_objective.hpp"

namespace heddle {

PairTask::PairTask(const FinetuneOptions& options, const formats::ModelFile& base, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), tokenizer_(base.tokenizer()) {
  if (formats::has_source_tokenizer(base.file())) {
    source_tokenizer_ = formats::read_tokenizer(base.file(), formats::Side::source);
  }
  const Validation valid = validation(options.valid);
  const std::vector<TrainingFile> files = training_files(options.train);
  check<UsageError>(files.size() == 1 && files.front().weight == 1,
                    "--train: --task translate reads one file of pairs, without a weight; make one of several");
  std::unique_ptr<data::PairSource> valid_file;
  if (!valid.file.empty()) valid_file = open(valid.file);
  pairs_.emplace(open(files.front().path), std::move(valid_file), valid);
}

std::unique_ptr<data::PairSource> PairTask::open(const std::string& path) const {
  if (!is_pairs_file(path)) return encode(path);
  auto pairs = std::make_unique<formats::PairsFile>(path);
  pairs->check_made_with(of_sources(), tokenizer_, options_.from);
  return pairs;
}

std::unique_ptr<data::PairSource> PairTask::encode(const std::string& path) const {
  cli::Input input(path);
  cli::LineReader lines(input);
  std::vector<data::TokenPair> pairs;
  while (const auto line = lines.next()) {
    const std::string where = concatenate(input.name(), ":", lines.number());
    const std::string text(lines.number() == 1 ? without_byte_order_mark(line->text) : line->text);
    const std::size_t tab = text.find('\t');
    check<DataError>(tab != std::string::npos && text.find('\t', tab + 1) == std::string::npos, where,
                     ": is not SOURCE, tab, TARGET");
    check<DataError>(tab > 0 && tab + 1 < text.size(), where, ": the ", tab == 0 ? "source" : "target", " is empty");
    pairs.push_back(
        {encode_line(of_sources(), text.substr(0, tab), where), encode_line(tokenizer_, text.substr(tab + 1), where)});
  }
  check<DataError>(!pairs.empty(), path, ": no pair of texts");
  return std::make_unique<data::PairsInMemory>(std::move(pairs), of_sources().vocab_size(), tokenizer_.vocab_size(),
                                               path);
}

std::unique_ptr<training::Objective> PairTask::objective(models::TaskModel& model,
                                                         const training::TrainingConfig& config) {
  return training::make_objective(choose_objective("translate", model.body(), training::DataKind::pairs, arguments_),
                                  {.model = model.body(),
                                   .train = {.pairs = &pairs_->train()},
                                   .valid = {.pairs = pairs_->valid()},
                                   .tokenizer = &tokenizer_,
                                   .source_tokenizer = source_tokenizer_ ? &*source_tokenizer_ : nullptr,
                                   .masking = options_.setup.masking,
                                   .noise = options_.setup.noise,
                                   .pairs = options_.setup.pairs,
                                   .config = config});
}

EvaluationSample PairTask::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) {
  Index tokens = 0;
  for (Index pair = 0; pairs_->valid() != nullptr && pair < pairs_->valid()->size(); ++pair) {
    tokens += pairs_->valid()->target_length(pair) + 1;
  }
  return sample_tokens(config, tokens, model->training_length());
}

std::string PairTask::summary() const {
  return grouped(pairs_->train().size()) + " pairs";
}

}  // namespace heddle
