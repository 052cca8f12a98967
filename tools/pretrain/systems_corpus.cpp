// Systems of differential equations with their Lyapunov functions, drawn while a model trains on them. No file.
#include "libcore/models/architecture.hpp"
#include "libcore/models/roles.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/pretrain/corpus.hpp"
#include "tools/symbolic/system_pairs.hpp"
#include "tools/training/named_problems.hpp"

namespace heddle {

namespace {

constexpr Index pairs_that_evaluate = 500;

class SystemsCorpus : public Corpus {
 public:
  SystemsCorpus(const data::ProblemChoice& family, const cli::Arguments& arguments)
      : Corpus({}),
        name_(name_of_family(family)),
        tokenizer_(system_tokenizer()),
        train_(pairs_to_train(name_, *family->systems(), seed_of(arguments))),
        valid_(pairs_to_evaluate(name_, family->systems()->size, pairs_that_evaluate, seed_of(arguments))) {
    refuse({"train", "valid", "tokenizer", "documents", "sequence_length"}, arguments,
           ": is for files, and --tasks draws pairs");
  }

  training::DataKind kind() const override { return training::DataKind::pairs; }
  bool has_samples_of_any_size() const override { return true; }
  training::TrainingData train() const override { return {.pairs = &train_}; }
  training::TrainingData valid() const override { return {.pairs = &valid_}; }
  const text::Tokenizer* tokenizer() const override { return &tokenizer_; }
  void fit(models::ModelConfig& model) const override {
    check<UsageError>(model.reads_tokens(), "--tasks lyapunov: draws pairs of texts, and --arch ", model.arch(),
                      " reads ", models::what_it_reads(model), "; give --arch ",
                      models::architectures_with(models::SequenceToSequence::ability));
    fit_texts(model, tokenizer_, nullptr, name_);
  }
  std::string summary(const models::Model& model) const override {
    return concatenate("vocabulary ", model.tokens().vocab_size(), ", pairs of ", name_, ", ", grouped(train_.size()),
                       " new ones in each epoch");
  }
  void add_to(formats::Provenance&) const override {}

 private:
  static std::uint64_t seed_of(const cli::Arguments& arguments) {
    return static_cast<std::uint64_t>(arguments.common().seed);
  }
  Index valid_units() const override {
    Index tokens = 0;
    for (Index pair = 0; pair < valid_.size(); ++pair) tokens += valid_.target_length(pair) + 1;
    return tokens;
  }

  std::string name_;
  text::Tokenizer tokenizer_;
  data::GeneratedPairs train_;
  data::PairsInMemory valid_;
};

}  // namespace

std::unique_ptr<Corpus> open_systems(const data::ProblemChoice& family, const cli::Arguments& arguments) {
  return std::make_unique<SystemsCorpus>(family, arguments);
}

}  // namespace heddle
