// What a run reads: tokens to train on and to evaluate on, of token files or of text, and their tokenizer.
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
  // Reads and encodes what is text. Throws UsageError for text without -t, and DataError for files that another
  // tokenizer made and where too little is there to hold out a part. Precondition: --train names a file.
  Corpus(const PretrainOptions& options, const cli::Arguments& arguments);

  const data::TokenSource& train() const { return tokens_->train(); }
  // Null where there is nothing to evaluate on.
  const data::TokenSource* valid() const { return tokens_->valid(); }
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  // The file that has it.
  const std::string& tokenizer_file() const { return tokenizer_file_; }
  void add_to(formats::Provenance& provenance) const;

 private:
  std::unique_ptr<data::TokenSource> open(const std::string& path, const cli::Arguments& arguments) const;

  std::vector<TrainingFile> files_;
  Validation valid_;
  Documents documents_;
  bool encodes_ = false;        // any text
  bool has_tokenizer_ = false;  // by -t
  std::string tokenizer_file_;
  std::optional<text::Tokenizer> tokenizer_;
  std::optional<TrainingTokens> tokens_;
};

}  // namespace heddle
