#include <fstream>

#include "formats/symbolic/certificate_kind.hpp"
#include "tools/inspect/certificates.hpp"

namespace heddle {

bool is_certificate_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char brace = 0, quote = 0;
  const std::string key = formats::certificate_key;
  std::string begin(key.size(), '\0');
  return in >> brace >> quote && brace == '{' && quote == '"' &&
         in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == key;
}

}  // namespace heddle
