// The targets of libcore/symbolic in a build without it.
#include "fuzz/target.hpp"

namespace heddle::fuzz {

void infix_system(std::string_view) {}
void prefix_system(std::string_view) {}
void lyapunov_certificate(std::string_view) {}

}  // namespace heddle::fuzz
