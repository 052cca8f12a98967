#include "tools/training/choose_objective.hpp"

#include "libcore/data/masking.hpp"
#include "libcore/data/noise.hpp"
#include "libcore/data/pair_batches.hpp"
#include "tools/cli/refuse.hpp"

namespace heddle {

namespace {

struct NameCollector {
  std::vector<std::string> names;
  template <class T>
  void operator()(const Field& field, const T&) {
    names.push_back(field.name);
  }
};

template <class Options>
std::vector<std::string> names_of_fields() {
  NameCollector collector;
  const Options options;
  visit_fields(options, collector);
  return collector.names;
}

template <class Options>
void refuse_fields(const cli::Arguments& arguments, const std::string& reason) {
  refuse(names_of_fields<Options>(), arguments, reason);
}

// The options of a section that the objective does not use.
template <class Options>
void refuse_others(const std::string& objective, const std::string& section, const cli::Arguments& arguments,
                   const std::string& what) {
  std::vector<std::string> names = names_of_fields<Options>();
  std::erase_if(names, [&](const std::string& name) { return training::takes_option(objective, section, name); });
  refuse(names, arguments, ": the " + objective + " objective does not " + what + "; leave it out");
}

}  // namespace

std::vector<std::string> objective_choices() {
  std::vector<std::string> choices{"auto"};
  for (const std::string& name : training::objective_names()) choices.push_back(name);
  return choices;
}

std::string choose_objective(const std::string& wanted, const models::Model& model,
                             std::optional<training::DataKind> data, const cli::Arguments& arguments) {
  const std::string chosen = training::objective_of(model, wanted, data);
  refuse_others<data::MaskingOptions>(chosen, "masking", arguments, "mask tokens");
  refuse_others<data::PermutationOptions>(chosen, "permutation", arguments, "predict tokens in a random order");
  refuse_others<training::DetectionOptions>(chosen, "detection", arguments, "detect replaced tokens");
  refuse_others<data::NoiseOptions>(chosen, "noise", arguments, "corrupt text");
  refuse_others<data::PairOptions>(chosen, "pairs", arguments, "read pairs of texts");
  check<UsageError>(!arguments.given("batch_size") || !arguments.given("batch_tokens"),
                    "--batch-size and --batch-tokens both set the size of a micro-batch; give one of them");
  return chosen;
}

void refuse_masking(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::MaskingOptions>(arguments, reason);
}

void refuse_permutation(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::PermutationOptions>(arguments, reason);
}

void refuse_detection(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<training::DetectionOptions>(arguments, reason);
}

void refuse_noise(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::NoiseOptions>(arguments, reason);
}

void refuse_pairs(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::PairOptions>(arguments, reason);
}

}  // namespace heddle
