#include "tools/pretrain/corpus.hpp"

#include <algorithm>

#include "heddle/formats/heddle/token_file.hpp"
#include "tools/corpus/encoded_text.hpp"

namespace heddle {

Corpus::Corpus(const PretrainOptions& options, const cli::Arguments& arguments)
    : files_(training_files(options.train)),
      valid_(validation(options.valid)),
      documents_(options.documents),
      tokenizer_file_(options.tokenizer.empty() ? files_.front().path : options.tokenizer) {
  encodes_ = std::ranges::any_of(files_, is_text, &TrainingFile::path) || is_text(valid_.file);
  check<UsageError>(encodes_ || !arguments.given("documents"),
                    "--documents is for text, and all files are token files; leave it out");
  has_tokenizer_ = !options.tokenizer.empty();
  if (has_tokenizer_) {
    tokenizer_ = formats::load_tokenizer(options.tokenizer);
  } else if (!is_text(files_.front().path)) {
    tokenizer_ = formats::TokenFile(files_.front().path).tokenizer();
  }
  std::vector<std::unique_ptr<data::TokenSource>> train;
  for (const TrainingFile& file : files_) train.push_back(open(file.path, arguments));
  std::unique_ptr<data::TokenSource> valid;
  if (!valid_.file.empty()) valid = open(valid_.file, arguments);
  tokens_.emplace(std::move(train), files_, std::move(valid), valid_);
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

void Corpus::add_to(formats::Provenance& provenance) const {
  if (encodes_) formats::add_tokenizer_input(provenance, tokenizer_file_);
  add_inputs(provenance, files_, valid_, documents_);
  if (!valid_.file.empty()) formats::add_input(provenance, "valid", valid_.file);
}

}  // namespace heddle
