// A name with settings as users write it: performer:features=256,orthogonal=true
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/base/real.hpp"

namespace heddle {

class Settings {
 public:
  // Throws UsageError for malformed text.
  explicit Settings(std::string_view text);

  const std::string& name() const { return name_; }
  // The number given for the key, or the fallback. Throws UsageError unless it is a number from `least` to `most`.
  double number(const std::string& key, double fallback, double least = -1e300, double most = 1e300);
  // The same, a whole number.
  Index index(const std::string& key, Index fallback, Index least, Index most);
  // The word given for the key, or the first of the words. Throws UsageError, which lists them, for another.
  std::string word(const std::string& key, const std::vector<std::string>& words);
  // Throws UsageError, which names the keys, if some were not read. Call it after reading all settings.
  void refuse_others() const;
  // The text without settings that were read and are equal to their fallbacks.
  std::string without_fallbacks() const;

 private:
  std::string name_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> known_, usual_;  // keys that were read, and those given with the value of the fallback
};

}  // namespace heddle
