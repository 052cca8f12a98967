#include "tools/cli/model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "libcore/base/error.hpp"
#include "libcore/base/values.hpp"

namespace heddle::cli {

std::vector<std::string> model_files(const std::string& words) {
  std::error_code ignored;
  if (words.find(',') == words.npos || std::filesystem::exists(words, ignored)) return {words};
  std::vector<std::string> files = split_list(words);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool repeated = std::any_of(
        files.begin(), files.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const auto& other) { return other == files[i] || std::filesystem::equivalent(other, files[i], ignored); });
    check<UsageError>(!repeated, words, ": ", files[i], " is named twice");
  }
  return files;
}

}  // namespace heddle::cli
