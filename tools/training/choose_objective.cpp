#include "tools/training/choose_objective.hpp"

#include "heddle/cli/refuse.hpp"
#include "heddle/data/masking.hpp"
#include "heddle/data/noise.hpp"
#include "heddle/data/pair_batches.hpp"

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
void refuse_fields(const cli::Arguments& arguments, const std::string& reason) {
  NameCollector collector;
  const Options options;
  visit_fields(options, collector);
  refuse(collector.names, arguments, reason);
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
  if (!training::takes_options(chosen, "masking")) {
    refuse_masking(arguments, ": the " + chosen + " objective does not mask tokens; leave it out");
  }
  if (!training::takes_options(chosen, "noise")) {
    refuse_noise(arguments, ": the " + chosen + " objective does not corrupt text; leave it out");
  }
  if (!training::takes_options(chosen, "pairs")) {
    refuse_pairs(arguments, ": the " + chosen + " objective does not read pairs of texts; leave it out");
  }
  check<UsageError>(!arguments.given("batch_size") || !arguments.given("batch_tokens"),
                    "--batch-size and --batch-tokens both set the size of a micro-batch; give one of them");
  return chosen;
}

void refuse_masking(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::MaskingOptions>(arguments, reason);
}

void refuse_noise(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::NoiseOptions>(arguments, reason);
}

void refuse_pairs(const cli::Arguments& arguments, const std::string& reason) {
  refuse_fields<data::PairOptions>(arguments, reason);
}

}  // namespace heddle
