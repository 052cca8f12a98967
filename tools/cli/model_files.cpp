#include "heddle/cli/model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"

namespace heddle::cli {

std::vector<std::string> model_files(const std::string& words) {
  std::error_code ignored;
  if (words.find(',') == words.npos || std::filesystem::exists(words, ignored)) return {words};
  std::vector<std::string> files = split(words, ',');
  for (const std::string& file : files) {
    check<UsageError>(!file.empty(), words, ": a name is empty; write models as a.h5,b.h5");
    check<UsageError>(std::ranges::count(files, file) == 1, words, ": ", file, " is named twice");
  }
  return files;
}

}  // namespace heddle::cli
