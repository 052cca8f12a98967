#include "tools/pretrain/corpus.hpp"

#include <algorithm>

#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/encoded_text.hpp"

namespace heddle {

Corpus::Corpus(const PretrainOptions& options, const cli::Arguments& arguments)
    : files_(training_files(options.train)),
      valid_(validation(options.valid)),
      documents_(options.documents),
      has_tokenizer_(!options.tokenizer.empty()),
      tokenizer_file_(has_tokenizer_ ? options.tokenizer : files_.front().path) {
  is_pairs_file(files_.front().path) ? open_pairs(arguments) : open_text(arguments);
}

void Corpus::open_text(const cli::Arguments& arguments) {
  encodes_ = std::ranges::any_of(files_, is_text, &TrainingFile::path) || is_text(valid_.file);
  check<UsageError>(encodes_ || !arguments.given("documents"),
                    "--documents is for text, and all files are token files; leave it out");
  if (has_tokenizer_) {
    tokenizer_ = cli::load_tokenizer(tokenizer_file_, arguments);
  } else if (!is_text(files_.front().path)) {
    tokenizer_ = formats::TokenFile(files_.front().path).tokenizer();
  }
  std::vector<std::unique_ptr<data::TokenSource>> train;
  for (const TrainingFile& file : files_) train.push_back(open(file.path, arguments));
  std::unique_ptr<data::TokenSource> valid;
  if (!valid_.file.empty()) valid = open(valid_.file, arguments);
  tokens_.emplace(std::move(train), files_, std::move(valid), valid_);
}

void Corpus::open_pairs(const cli::Arguments& arguments) {
  check<UsageError>(files_.size() == 1 && files_.front().weight == 1, "--train ", files_.front().path,
                    ": is a pairs file, of which a run reads one, without a weight; tokenize several texts into one");
  check<UsageError>(!has_tokenizer_ && !arguments.given("documents"), "--", has_tokenizer_ ? "tokenizer" : "documents",
                    " is for text; a pairs file is encoded already; leave it out");
  refuse({"sequence_length"}, arguments, ": pairs of texts are read whole; leave it out");
  auto train = std::make_unique<formats::PairsFile>(files_.front().path);
  tokenizer_ = train->tokenizer(formats::Side::target);
  if (train->has_source_tokenizer()) source_tokenizer_ = train->tokenizer(formats::Side::source);
  std::unique_ptr<formats::PairsFile> valid;
  if (!valid_.file.empty()) {
    check<DataError>(is_pairs_file(valid_.file), valid_.file, ": is not a pairs file like ", files_.front().path,
                     "; make one: tokenize -t ", tokenizer_file_, " --pairs SOURCE TARGET -o valid.h5");
    valid = std::make_unique<formats::PairsFile>(valid_.file);
    valid->check_made_with(source_tokenizer_ ? *source_tokenizer_ : *tokenizer_, *tokenizer_, files_.front().path);
  }
  pairs_.emplace(std::move(train), std::move(valid), valid_);
}

std::unique_ptr<data::TokenSource> Corpus::open(const std::string& path, const cli::Arguments& arguments) const {
  if (is_text(path)) {
    check<DataError>(has_tokenizer_, path,
                     ": is not a token file; to train on text give its tokenizer, -t tokenizer.h5, or encode it first: "
                     "tokenize -t tokenizer.h5 -o tokens.h5 ",
                     path);
    return encode_text(path, *tokenizer_, documents_, arguments);
  }
  auto tokens = std::make_unique<formats::TokenFile>(path);
  const bool is_same = path == tokenizer_file_ || tokens->tokenizer().fingerprint() == tokenizer_->fingerprint();
  check<DataError>(is_same, path, ": was encoded with another tokenizer than ", tokenizer_file_,
                   "; encode it with the same one (tokenize -t ", tokenizer_file_, ")");
  return tokens;
}

training::TrainingData Corpus::train() const {
  if (pairs_) return {.pairs = &pairs_->train()};
  return {.text = &tokens_->train()};
}

training::TrainingData Corpus::valid() const {
  if (pairs_) return {.pairs = pairs_->valid()};
  return {.text = tokens_->valid()};
}

Index Corpus::valid_tokens() const {
  const training::TrainingData data = valid();
  if (data.text != nullptr) return data.text->size();
  Index tokens = 0;
  for (Index pair = 0; data.pairs != nullptr && pair < data.pairs->size(); ++pair) {
    tokens += data.pairs->target_length(pair) + 1;
  }
  return tokens;
}

models::Vocabularies Corpus::vocabularies() const {
  const Index target = tokenizer_->vocab_size();
  return {.source = source_tokenizer_ ? source_tokenizer_->vocab_size() : target,
          .target = target,
          .are_one = !source_tokenizer_ || source_tokenizer_->model().pieces == tokenizer_->model().pieces};
}

std::string Corpus::summary() const {
  if (pairs_) return grouped(pairs_->train().size()) + " training pairs";
  const Index tokens = tokens_->train().size();
  return grouped(tokens) + (tokens == 1 ? " training token" : " training tokens");
}

void Corpus::add_to(formats::Provenance& provenance) const {
  if (encodes_) formats::add_tokenizer_input(provenance, tokenizer_file_);
  add_inputs(provenance, files_, valid_, documents_);
  if (!valid_.file.empty()) formats::add_input(provenance, "valid", valid_.file);
}

}  // namespace heddle
