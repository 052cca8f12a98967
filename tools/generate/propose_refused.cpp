// Stands for propose_functions.cpp in a build without GiNaC or FLINT.
#include "tools/generate/propose_functions.hpp"

namespace heddle {

int propose_functions(const models::SequenceToSequence&, const formats::LoadedModel&, const GenerateOptions&,
                      const std::string&, const cli::Arguments&) {
  throw UsageError(
      "--verify: this build has no GiNaC and FLINT, which prove functions; install libginac-dev and libflint-dev and "
      "build again");
}

}  // namespace heddle
