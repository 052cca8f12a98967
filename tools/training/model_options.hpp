// The shape of a model on a command line: the fields of all architectures, each once.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "libcore/models/architecture.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

class ModelOptions {
 public:
  // Defaults of every architecture.
  ModelOptions();

  // The configuration that the command line describes; fields that it does not give are those of `base` or, if that is
  // null, the architecture's defaults. Throws UsageError for an architecture other than the base's.
  models::ModelConfig chosen(const cli::Arguments& arguments, const models::ModelConfig* base) const;
  // Sets the options to the values of a configuration, for --print-config.
  void show(models::ModelConfig config);

  // Throws UsageError, "--NAME REASON", for an option of the command line that differs from the configuration, and for
  // one that its architecture does not have; `except` names fields that may differ.
  void check_agrees(const models::ModelConfig& config, const cli::Arguments& arguments, const std::string& reason,
                    const std::set<std::string>& except = {}) const;

  // Throws UsageError, "PATH: --layers was 2 and is 4 now; …", if two models differ.
  static void check_unchanged(models::ModelConfig now, models::ModelConfig then, const std::string& path);

  // All that the command line and the defaults say of the shape of a new model, a line "NAME VALUE" for each option.
  std::string text(const cli::Arguments& arguments) const;
  // Throws UsageError, "PATH: --ngrams was 2 and is 3 now; …", if two such texts differ. That of another model is
  // empty.
  static void check_unchanged(const std::string& now, const std::string& then, const std::string& path);

  const std::string& arch() const { return arch_; }

  // Visits `arch` and each field of any architecture. A field that only some architectures have needs one of these.
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(models::arch_field(), self.arch_);
    std::set<std::string> seen;
    for (models::ModelConfig& config : self.configs_) {
      const auto once = [&](const Field& field, auto& value) {
        if (seen.insert(field.name).second) visitor(self.qualified(field), value);
      };
      models::detail::Erased<decltype(once), false> erased(once);
      config.visit_own(erased);
    }
  }

 private:
  Field qualified(Field field) const;

  std::string arch_;
  // One for each architecture, in the order of the list. The first that has a field holds its value.
  mutable std::vector<models::ModelConfig> configs_;
};

}  // namespace heddle
