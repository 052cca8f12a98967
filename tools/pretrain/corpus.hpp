// The data of a run: tokens to train on and to evaluate on, from token files or from text, and their tokenizer.
#pragma once

#include <optional>
#include <string>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/heddle/provenance.hpp"
#include "heddle/text/tokenizer.hpp"
#include "tools/pretrain/options.hpp"
#include "tools/training/files.hpp"

namespace heddle {

class Corpus {
 public:
  // Reads and encodes files that are text. Throws UsageError for text without -t, DataError for token files made with
  // another tokenizer and for too little text to hold out a part. Precondition: --train names a file.
  Corpus(const PretrainOptions& options, const cli::Arguments& arguments);

  const data::TokenSource& train() const { return tokens_->train(); }
  // Null if there is no validation data.
  const data::TokenSource* valid() const { return tokens_->valid(); }
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  // The file that contains the tokenizer.
  const std::string& tokenizer_file() const { return tokenizer_file_; }
  void add_to(formats::Provenance& provenance) const;

 private:
  std::unique_ptr<data::TokenSource> open(const std::string& path, const cli::Arguments& arguments) const;

  std::vector<TrainingFile> files_;
  Validation valid_;
  Documents documents_;
  bool encodes_ = false;        // whether any file is text
  bool has_tokenizer_ = false;  // given by -t
  std::string tokenizer_file_;
  std::optional<text::Tokenizer> tokenizer_;
  std::optional<TrainingTokens> tokens_;
};

}  // namespace heddle
