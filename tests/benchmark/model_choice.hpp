// The shape of a model to measure, on a command line.
#pragma once

#include "libcore/models/config.hpp"
#include "tools/cli/kind_choice.hpp"

namespace heddle::benchmark {

struct ModelChoice {
  cli::KindChoice<models::CommonConfig> arch{
      {"layers", "width", "heads", "positions", "attention", "context", "sequence_length", "dropout", "vocab_size"},
      models::ModelConfig().arch()};

  // With so large a vocabulary where none is given. Throws UsageError.
  models::ModelConfig chosen(Index vocab_size) const {
    models::ModelConfig config = arch.resolved(models::ModelConfig(), "arch");
    if (config.tokens().vocab_size == 0) config.tokens().vocab_size = vocab_size;
    return config;
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("arch", "architecture"), self.arch);
  }
};

}  // namespace heddle::benchmark
