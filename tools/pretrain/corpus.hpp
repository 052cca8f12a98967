// The data of a run: what it trains on and evaluates on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "formats/heddle/provenance.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/pretrain/options.hpp"
#include "tools/training/evaluation_sample.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

class Corpus {
 public:
  virtual ~Corpus() = default;

  virtual training::DataKind kind() const = 0;
  virtual training::TrainingData train() const = 0;
  // Empty if there is no validation data.
  virtual training::TrainingData valid() const = 0;
  // Null where models need none; the second is that of the sources of pairs, where it is another one.
  virtual const text::Tokenizer* tokenizer() const { return nullptr; }
  virtual const text::Tokenizer* source_tokenizer() const { return nullptr; }
  // Sets what the data decide of a new model. Throws UsageError for a model that does not read them.
  virtual void fit(models::ModelConfig& model) const = 0;
  // For dry runs, as sample_tokens().
  virtual EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) const;
  // Whether samples differ in size, so that many steps must be simulated to know what they take.
  virtual bool has_samples_of_any_size() const { return false; }
  // "vocabulary 512, 12,345 training tokens"
  virtual std::string summary(const models::Model& model) const = 0;
  // Bytes of text that a token stands for; 0 where there is no text.
  virtual double bytes_per_unit() const { return 0; }
  virtual void add_to(formats::Provenance& provenance) const;

 protected:
  struct Files {
    std::vector<TrainingFile> train;
    Validation valid;
    Documents documents = Documents::file;
  };
  explicit Corpus(Files files) : files_(std::move(files)) {}
  const Files& files() const { return files_; }

 private:
  // Number of units of the validation data.
  virtual Index valid_units() const = 0;

  Files files_;
};

// Opens a corpus of the kind that the first file of --train is of. Reads and encodes files that are text. Throws
// UsageError for options that do not suit the kind, and DataError for files that do not go together and for too little
// data to hold out a part. Precondition: --train names a file.
std::unique_ptr<Corpus> open_corpus(const PretrainOptions& options, const cli::Arguments& arguments);

// Token files, or text.
std::unique_ptr<Corpus> open_text(const PretrainOptions& options, const cli::Arguments& arguments);
// A file of pairs of texts.
std::unique_ptr<Corpus> open_pairs(const PretrainOptions& options, const cli::Arguments& arguments);
// Graphs files.
std::unique_ptr<Corpus> open_graphs(const PretrainOptions& options, const cli::Arguments& arguments);

// Problems of a family. Precondition: --tasks names one.
std::unique_ptr<Corpus> open_problems(const PretrainOptions& options, const cli::Arguments& arguments);
// Systems of differential equations with a function each, which the family draws. Throws UsageError in a build that
// cannot draw them.
std::unique_ptr<Corpus> open_systems(const data::ProblemChoice& family, const cli::Arguments& arguments);

// Throws UsageError for a model that reads no texts, which the file holds.
void check_reads_texts(const models::ModelConfig& model, const std::string& file);
// Sets the fields of text models that tokenizers determine. Throws UsageError for a model that reads no texts.
void fit_texts(models::ModelConfig& model, const text::Tokenizer& target, const text::Tokenizer* source,
               const std::string& file);

}  // namespace heddle
