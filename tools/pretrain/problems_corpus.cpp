// Problems that an update rule learns to minimise. There is no file of them but for a table that their family names.
#include "libcore/models/architecture.hpp"
#include "libcore/models/update_rule.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/pretrain/corpus.hpp"
#include "tools/training/named_problems.hpp"

namespace heddle {

namespace {

class ProblemsCorpus : public Corpus {
 public:
  ProblemsCorpus(const PretrainOptions& options, const cli::Arguments& arguments) : Corpus({}) {
    refuse({"train", "valid", "tokenizer", "documents", "eval_tokens", "label_smoothing"}, arguments,
           ": is for texts and graphs; --tasks names problems");
    problems_ = named_problems(options.tasks, arguments);
  }

  training::DataKind kind() const override { return training::DataKind::problems; }
  training::TrainingData train() const override { return {.problems = problems_.source.get()}; }
  training::TrainingData valid() const override { return {.problems = problems_.source.get()}; }
  void fit(models::ModelConfig& model) const override {
    auto* const rule = model.as<models::RuleConfig>();
    check<UsageError>(rule != nullptr, "--tasks: is for models that take steps: --arch ",
                      models::architectures_with(models::UpdateRule::ability));
    rule->learned_on = problems_.source->name();
  }
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig&) const override {
    return sample_tokens(config, 1, 1);
  }
  std::string summary(const models::Model&) const override {
    return concatenate("problems of ", problems_.source->name(), ", of ", grouped(problems_.source->size()),
                       " numbers");
  }
  void add_to(formats::Provenance& provenance) const override {
    if (!problems_.table_file.empty()) formats::add_input(provenance, "tasks", problems_.table_file);
  }

 private:
  Index valid_units() const override { return 1; }

  NamedProblems problems_;
};

}  // namespace

std::unique_ptr<Corpus> open_problems(const PretrainOptions& options, const cli::Arguments& arguments) {
  const data::ProblemChoice family = options.tasks.resolved(data::ProblemChoice(), "tasks");
  family.check();
  if (family->systems()) return open_systems(family, arguments);
  return std::make_unique<ProblemsCorpus>(options, arguments);
}

}  // namespace heddle
