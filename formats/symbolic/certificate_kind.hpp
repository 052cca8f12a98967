// First bytes of a file with a certificate of a Lyapunov function.
#pragma once

namespace heddle::formats {

inline constexpr const char* certificate_key = "lyapunov_certificate";  // its version

}  // namespace heddle::formats
