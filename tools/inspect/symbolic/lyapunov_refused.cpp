// Stands for lyapunov_answers.cpp in a build without GiNaC or FLINT.
#include "libcore/base/error.hpp"
#include "tools/inspect/symbolic/lyapunov_answers.hpp"

namespace heddle {

int answer_lyapunov(const cli::Arguments&, const LyapunovOptions&) {
  throw DataError(
      "this build has no GiNaC and FLINT, which Lyapunov functions need; install libginac-dev and "
      "libflint-dev and build again");
}

}  // namespace heddle
