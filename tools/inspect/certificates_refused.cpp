// Stands for certificates.cpp in a build without GiNaC or FLINT.
#include "libcore/base/error.hpp"
#include "tools/inspect/certificates.hpp"

namespace heddle {

std::vector<std::string> certificate_problems(const std::string& path) {
  throw DataError(path +
                  ": is a certificate of a Lyapunov function, which this build cannot check; install libginac-dev "
                  "and libflint-dev and build again");
}

}  // namespace heddle
