// The data of a run: tokens or pairs of texts to train on and to evaluate on, and their tokenizers.
#pragma once

#include <optional>
#include <string>

#include "formats/heddle/provenance.hpp"
#include "libcore/models/config.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/pretrain/options.hpp"
#include "tools/training/pairs.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

class Corpus {
 public:
  // Reads and encodes files that are text. Throws UsageError for text without -t, DataError for files made with another
  // tokenizer and for too little data to hold out a part. Precondition: --train names a file.
  Corpus(const PretrainOptions& options, const cli::Arguments& arguments);

  training::TrainingData train() const;
  // Empty if there is no validation data.
  training::TrainingData valid() const;
  bool has_valid() const { return valid().text != nullptr || valid().pairs != nullptr; }
  Index valid_tokens() const;
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  // Of the sources of pairs, where it is another one; else null.
  const text::Tokenizer* source_tokenizer() const { return source_tokenizer_ ? &*source_tokenizer_ : nullptr; }
  models::Vocabularies vocabularies() const;
  training::DataKind kind() const { return pairs_ ? training::DataKind::pairs : training::DataKind::text; }
  // "12,345 training tokens"
  std::string summary() const;
  // The file that contains the tokenizer.
  const std::string& tokenizer_file() const { return tokenizer_file_; }
  void add_to(formats::Provenance& provenance) const;

 private:
  void open_text(const cli::Arguments& arguments);
  void open_pairs(const cli::Arguments& arguments);
  std::unique_ptr<data::TokenSource> open(const std::string& path, const cli::Arguments& arguments) const;

  std::vector<TrainingFile> files_;
  Validation valid_;
  Documents documents_;
  bool encodes_ = false;        // whether any file is text
  bool has_tokenizer_ = false;  // given by -t
  std::string tokenizer_file_;
  std::optional<text::Tokenizer> tokenizer_, source_tokenizer_;
  std::optional<TrainingTokens> tokens_;
  std::optional<TrainingPairs> pairs_;
};

}  // namespace heddle
