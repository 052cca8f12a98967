// A choice by name with settings, as given on a command line: --arch rnn:cell=lstm. Settings of which a tool makes
// options, such as --layers, are the same fields by a short name.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/kind.hpp"

namespace heddle::cli {

// The part that does not depend on the list; options.hpp makes options of it.
class KindInput {
 public:
  virtual ~KindInput() = default;
  virtual std::vector<KindHelp> help() const = 0;
  // The name where none is given, for help; empty where it depends on something else.
  virtual std::string usual_name() const = 0;
  // Throws UsageError, without the key, for a text that is its value in no kind.
  virtual void check_text(const std::string& key, const std::string& text) const = 0;

  // As given: the name, or ""; settings by the names of fields.
  std::string name;
  std::map<std::string, std::string> settings;
  std::map<std::string, std::string> places;  // origin of settings from a file or the environment

  // Output of --print-config, after show().
  std::string shown_name;
  std::map<std::string, std::string> shown_settings;

  const std::vector<std::string>& short_names() const { return short_names_; }
  bool is_given() const { return !name.empty() || !settings.empty(); }

 protected:
  // The fields that are options of their own.
  explicit KindInput(std::vector<std::string> short_names) : short_names_(std::move(short_names)) {}

 private:
  std::vector<std::string> short_names_;
};

template <class Common>
class KindChoice : public KindInput {
 public:
  // `usual`: the default kind.
  explicit KindChoice(std::vector<std::string> short_names = {}, std::string usual = "")
      : KindInput(std::move(short_names)), usual_(std::move(usual)) {}
  // The same, with other defaults of the usual one.
  KindChoice(std::vector<std::string> short_names, const KindOf<Common>& usual)
      : KindInput(std::move(short_names)), usual_(usual.name()), defaults_(usual.settings()) {}

  std::vector<KindHelp> help() const override {
    std::vector<KindHelp> help = kinds<Common>().help();
    for (KindHelp& kind : help) {
      if (kind.name == usual_ && !defaults_.empty()) kind.fields = defaults_;
    }
    return help;
  }
  std::string usual_name() const override { return usual_; }

  void check_text(const std::string& key, const std::string& text) const override {
    std::optional<UsageError> first;
    for (const Kind<Common>& kind : kinds<Common>().all) {
      if (!kind.defaults.has(key)) continue;
      try {
        KindOf<Common>(kind.defaults).set(key, text);
        return;
      } catch (const UsageError& error) {
        if (!first) first = UsageError(without_key(key, error.what()));
      }
    }
    if (first) throw *first;
  }

  // The kind that is named, or else the base, with the settings that are given. A named one starts from its defaults
  // unless it is the base's kind. Throws UsageError, which begins with the option, for unknown keys and for wrong
  // values. `option` is the name of the field, "arch".
  KindOf<Common> resolved(const KindOf<Common>& base, const std::string& option) const {
    KindOf<Common> kind = name.empty() || name == base.name() ? base : kinds<Common>().find(name).defaults;
    for (const auto& [key, text] : settings) {
      try {
        kind.set(key, text);
      } catch (const UsageError& error) {
        throw UsageError(located(key, option, error.what()));
      }
    }
    return kind;
  }

  void show(const KindOf<Common>& kind) {
    shown_name = kind.name();
    shown_settings.clear();
    for (const FieldText& field : kind.settings()) shown_settings[field.field.name] = field.text;
  }

 private:
  // "'x' is not a number" of "layers: 'x' is not a number".
  static std::string without_key(const std::string& key, const std::string& message) {
    const std::string start = Field(key, "").option() + ": ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  }
  // "run.ini:3: heads: bag has no key 'heads', …", "--layers: 'x' is not a number", "--arch: rnn has no key …".
  std::string located(const std::string& key, const std::string& option, const std::string& message) const {
    const bool is_short = std::ranges::count(short_names(), key) > 0;
    const auto place = places.find(key);
    if (place != places.end()) return concatenate(place->second, ": ", without_key(key, message));
    return is_short ? concatenate("--", Field(key, "").option(), ": ", without_key(key, message))
                    : concatenate("--", option, ": ", message);
  }

  std::string usual_;
  std::vector<FieldText> defaults_;  // defaults of the usual kind; empty: those of the list
};

}  // namespace heddle::cli
