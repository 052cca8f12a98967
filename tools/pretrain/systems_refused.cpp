// Stands for systems_corpus.cpp in a build without GiNaC or FLINT.
#include "tools/pretrain/corpus.hpp"

namespace heddle {

std::unique_ptr<Corpus> open_systems(const data::ProblemChoice&, const cli::Arguments&) {
  throw UsageError(
      "--tasks lyapunov: this build has no GiNaC and FLINT, which draw the systems; install libginac-dev and "
      "libflint-dev and build again");
}

}  // namespace heddle
