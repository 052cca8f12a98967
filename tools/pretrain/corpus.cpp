#include "tools/pretrain/corpus.hpp"

#include "formats/heddle/file.hpp"
#include "libcore/models/architecture.hpp"

namespace heddle {

namespace {

struct Opening {
  formats::FileKind kind;
  std::unique_ptr<Corpus> (*open)(const PretrainOptions& options, const cli::Arguments& arguments);
};
// Other files are tokens or text.
constexpr Opening openings[] = {{formats::FileKind::pairs, open_pairs}, {formats::FileKind::graphs, open_graphs}};

}  // namespace

std::unique_ptr<Corpus> open_corpus(const PretrainOptions& options, const cli::Arguments& arguments) {
  const std::string first = training_files(options.train).front().path;
  for (const auto& [kind, open] : openings) {
    if (formats::is_file_of(first, kind)) return open(options, arguments);
  }
  return open_text(options, arguments);
}

EvaluationSample Corpus::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) const {
  return sample_tokens(config, valid_units(), model.tokens().training_length());
}

void Corpus::add_to(formats::Provenance& provenance) const {
  add_inputs(provenance, files_.train, files_.valid, files_.documents);
  if (!files_.valid.file.empty()) formats::add_input(provenance, "valid", files_.valid.file);
}

void check_reads_texts(const models::ModelConfig& model, const std::string& file) {
  check<UsageError>(model.reads_tokens(), "--arch ", model.arch(), ": reads ", models::what_it_reads(model), ", and ",
                    file, " holds texts; ",
                    model.as<models::GraphConfig>() != nullptr ? "convert makes a graphs file of molecules or tables"
                                                               : "--tasks names problems");
}

void fit_texts(models::ModelConfig& model, const text::Tokenizer& target, const text::Tokenizer* source,
               const std::string& file) {
  check_reads_texts(model, file);
  const Index pieces = target.vocab_size();
  model.tokens().fit_vocabularies({.source = source != nullptr ? source->vocab_size() : pieces,
                                   .target = pieces,
                                   .are_one = source == nullptr || source->model().pieces == target.model().pieces});
}

}  // namespace heddle
