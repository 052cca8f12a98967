// A file of pairs of texts to train on.
#include <optional>

#include "formats/heddle/pairs_file.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/pretrain/corpus.hpp"
#include "tools/training/pairs.hpp"

namespace heddle {

namespace {

class PairsCorpus : public Corpus {
 public:
  PairsCorpus(const PretrainOptions& options, const cli::Arguments& arguments);

  training::DataKind kind() const override { return training::DataKind::pairs; }
  bool has_samples_of_any_size() const override { return true; }
  training::TrainingData train() const override { return {.pairs = &pairs_->train()}; }
  training::TrainingData valid() const override { return {.pairs = pairs_->valid()}; }
  const text::Tokenizer* tokenizer() const override { return &*tokenizer_; }
  const text::Tokenizer* source_tokenizer() const override { return source_tokenizer_ ? &*source_tokenizer_ : nullptr; }
  void fit(models::ModelConfig& model) const override {
    fit_texts(model, *tokenizer_, source_tokenizer(), files().train.front().path);
  }
  std::string summary(const models::Model& model) const override {
    return concatenate("vocabulary ", model.tokens().vocab_size(), ", ", grouped(pairs_->train().size()),
                       " training pairs");
  }

 private:
  Index valid_units() const override;

  std::optional<text::Tokenizer> tokenizer_, source_tokenizer_;
  std::optional<TrainingPairs> pairs_;
};

PairsCorpus::PairsCorpus(const PretrainOptions& options, const cli::Arguments& arguments)
    : Corpus({training_files(options.train), validation(options.valid)}) {
  const TrainingFile& file = files().train.front();
  check<UsageError>(files().train.size() == 1 && file.weight == 1, "--train ", file.path,
                    ": is a pairs file, of which a run reads one, without a weight; tokenize several texts into one");
  refuse({"tokenizer", "documents"}, arguments, " is for text; a pairs file is encoded already; leave it out");
  refuse({"sequence_length"}, arguments, ": pairs of texts are read whole; leave it out");
  auto train = std::make_unique<formats::PairsFile>(file.path);
  tokenizer_ = train->tokenizer(formats::Side::target);
  if (train->has_source_tokenizer()) source_tokenizer_ = train->tokenizer(formats::Side::source);
  std::unique_ptr<formats::PairsFile> valid;
  if (const std::string& path = files().valid.file; !path.empty()) {
    check<DataError>(formats::is_file_of(path, formats::FileKind::pairs), path, ": is not a pairs file like ",
                     file.path, "; make one: tokenize -t ", file.path, " --pairs SOURCE TARGET -o valid.h5");
    valid = std::make_unique<formats::PairsFile>(path);
    valid->check_made_with(source_tokenizer_ ? *source_tokenizer_ : *tokenizer_, *tokenizer_, file.path);
  }
  pairs_.emplace(std::move(train), std::move(valid), files().valid);
}

Index PairsCorpus::valid_units() const {
  Index tokens = 0;
  const data::PairSource* const valid = pairs_->valid();
  for (Index pair = 0; valid != nullptr && pair < valid->size(); ++pair) tokens += valid->target_length(pair) + 1;
  return tokens;
}

}  // namespace

std::unique_ptr<Corpus> open_pairs(const PretrainOptions& options, const cli::Arguments& arguments) {
  return std::make_unique<PairsCorpus>(options, arguments);
}

}  // namespace heddle
