// The command line of finetune.
#pragma once

#include <string>
#include <vector>

#include "libcore/models/architecture.hpp"
#include "tools/cli/kind_choice.hpp"
#include "tools/training/run_options.hpp"
#include "tools/training/run_spec.hpp"
#include "tools/training/tuning_spec.hpp"

namespace heddle {

// Default settings of a run that tunes this model.
RunSpec tuning_defaults(const models::ModelConfig& model);

struct FinetuneOptions : RunOptions {
  std::string from, ensemble, tokenizer;
  std::vector<std::string> train;
  cli::KindChoice<models::CommonConfig> arch;
  TuningSpec tuning;
  // Set for a candidate among several, by no option: no notes about baselines, and the temperature and
  // thresholds of its probabilities; a temperature of 0: validation data decide both. It learns from all examples, or
  // from half of them, halved so often.
  bool is_candidate = false;
  Index halvings = 0;
  double temperature = 0;
  std::vector<double> thresholds{};

  // Whether the model is a new one, not that of `from`.
  bool begins_new() const { return from.empty(); }
  // Whether each fold is left out in turn.
  bool cross_validates() const { return tuning.folds > 0 && tuning.fold == 0; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("from", "model to start from, made by pretrain or convert").not_empty().takes("MODEL").essential(),
            self.from);
    visitor(Field("arch", "architecture of a new model, without --from; bag trains in seconds").essential(), self.arch);
    visitor(Field("ensemble",
                  "train nothing, but find on --valid the weights with which these models predict together best; auto: "
                  "train a bag and, with --from, a network, and write the better one or both")
                .not_empty()
                .takes("MODEL,...|auto[:report=FILE]"),
            self.ensemble);
    visitor(Field("tokenizer",
                  "tokenizer of a new model: a tokenizer, token or model file, or one of another program; by default "
                  "one of words in lower case is trained on the examples")
                .letter('t')
                .needs({"arch"})
                .not_empty()
                .takes("FILE"),
            self.tokenizer);
    visitor(Field("train", "labelled files; for lm, token files or texts, weighted by readings per epoch, or prompts")
                .not_empty()
                .takes("FILE[:WEIGHT],...")
                .essential(),
            self.train);
    visit_files(self, visitor);
    TuningSpec::visit(self.tuning, visitor);
    visitor(Field("learning", "Training"), self.learning);
    visitor(Field("control", "Checkpoints, stopping and resuming"), self.control);
  }

  FinetuneOptions() {
    control.checkpoint_every = {};
    learning.has_average = false;  // averaging gained nothing in fine-tuning
    learning.budget_help =
        "take as many steps as this time (10m) or arithmetic (1e15flop) allows, at most the usual ones";
    learning.objective_help = "with --task lm or translate, what to predict";
    const RunSpec usual = tuning_defaults({});
    learning.optimizer =
        cli::KindChoice<training::OptimizerSettings>(learning.optimizer.short_names(), usual.optimizer);
    learning.schedule = cli::KindChoice<training::ScheduleSettings>(learning.schedule.short_names(), usual.schedule);
    learning.training = usual.training;
  }
};

}  // namespace heddle
