// The command line of pretrain.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/problems.hpp"
#include "libcore/models/presets.hpp"
#include "tools/cli/kind_choice.hpp"
#include "tools/lines/document_cutter.hpp"
#include "tools/training/run_options.hpp"

namespace heddle {

// The shape of a new model. A preset, with the settings that are given, or the defaults of an architecture.
struct ModelOptions {
  std::string preset;
  cli::KindChoice<models::CommonConfig> arch{{"layers", "width", "heads", "kv_heads", "ffn_width", "positions",
                                              "attention", "context", "sequence_length", "dropout", "vocab_size"},
                                             kinds<models::CommonConfig>().all.front().name};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("preset", "shape of a known model, which options override")
                .not_empty()
                .named_in(models::described_presets)
                .takes("NAME")
                .essential(),
            self.preset);
    visitor(Field("arch", "architecture").essential(), self.arch);
  }
};

struct PretrainOptions : RunOptions {
  std::vector<std::string> train;
  std::string tokenizer;
  Documents documents = Documents::file;
  cli::KindChoice<data::ProblemFamily> tasks;
  ModelOptions model;

  PretrainOptions();

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("train", "tokens, pairs, graphs, or text with -t; weighted by readings per epoch (default 1)")
                .not_empty()
                .takes("FILE[:WEIGHT],...")
                .essential(),
            self.train);
    visitor(Field("tokenizer",
                  "tokenizer of the text: of a tokenizer, token or model file, or of another program (tokenizer.json, "
                  "vocab.txt, a directory)")
                .letter('t')
                .needs({"train"})
                .not_empty()
                .takes("FILE")
                .essential(),
            self.tokenizer);
    visitor(Field("documents", "what ends a document in text: a line, blank lines, or the end of a file")
                .needs({"tokenizer"}),
            self.documents);
    visitor(Field("tasks",
                  "problems that are drawn in training, in place of --train: functions for update rules, or systems of "
                  "equations"),
            self.tasks);
    visit_files(self, visitor);
    visitor(Field("ranks",
                  "estimate the run on N ranks: memory, time, efficiency, and the job for Slurm; settings: "
                  "per-node (ranks of a node, default 1, or those of --tensor-parallel), latency (20us) and bandwidth "
                  "(10Gb/s) of the network")
                .needs({"dry_run"})
                .takes("N[:KEY=VALUE,...]|none"),
            self.ranks);
    visitor(Field("model", "Model"), self.model);
    visitor(Field("learning", "Training"), self.learning);
    visitor(Field("control", "Checkpoints, stopping and resuming"), self.control);
  }
};

}  // namespace heddle
