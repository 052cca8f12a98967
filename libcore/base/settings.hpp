// A name with settings as users write it: performer:features=256,kernel=relu
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

// A setting where it is read: its key, what help says of it, and the default in words where it is computed from the
// shape of a model, for example.
struct Setting {
  Setting(const char* setting_key, std::string setting_help = "", std::string default_in_words = "")
      : key(setting_key), help(std::move(setting_help)), initial(std::move(default_in_words)) {}
  std::string key, help, initial;
};

// A setting as help lists it.
struct SettingHelp {
  std::string key, text;
};

// A name of a list that users choose from, with the settings that may follow it.
struct NameHelp {
  std::string name, summary;
  std::vector<SettingHelp> settings{};
};

class Settings {
 public:
  // Throws UsageError for malformed text.
  explicit Settings(std::string_view text);

  const std::string& name() const { return name_; }
  // The number given for the key, or the fallback. Throws UsageError unless it is a number from `least` to `most`.
  double number(const Setting& setting, double fallback, double least = -1e300, double most = 1e300);
  // The same, a whole number.
  Index index(const Setting& setting, Index fallback, Index least, Index most);
  // The same, 0 or 1.
  bool flag(const Setting& setting, bool fallback) { return index(setting, fallback ? 1 : 0, 0, 1) == 1; }
  // The word given for the key, or the fallback. Throws UsageError, which lists the words, for another one.
  std::string word(const Setting& setting, const std::string& fallback, const std::vector<std::string>& words);
  // Throws UsageError, which names the keys, if some were not read. Call it after reading all settings.
  void refuse_others() const;
  // The text without settings that were read and are equal to their fallbacks.
  std::string without_fallbacks() const;

  // The settings read so far, with their defaults.
  const std::vector<SettingHelp>& known() const { return known_; }

 private:
  // The text given for a setting, or null; remembers the setting.
  const std::string* find(const Setting& setting, const std::string& fallback);

  std::string name_;
  std::map<std::string, std::string> values_;
  std::vector<SettingHelp> known_;
  std::vector<std::string> usual_;  // keys given with the value of the fallback
};

}  // namespace heddle
