#include "libcore/training/objectives.hpp"

#include <algorithm>

#include "libcore/models/architecture.hpp"

namespace heddle::training {

#define HEDDLE_OBJECTIVE(name, role, data, sections, summary) \
  std::unique_ptr<Objective> make_##name##_objective(const ObjectiveInputs& inputs);
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE

namespace {

struct Kind {
  std::string name, sections, summary, needed;
  DataKind data;
  bool (*suits)(const models::Model& model);
  std::unique_ptr<Objective> (*make)(const ObjectiveInputs& inputs);
};

template <class Role>
bool plays(const models::Model& model) {
  return model.as<Role>() != nullptr;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list = {
#define HEDDLE_OBJECTIVE(name, role, data, sections, summary) \
  {#name,                                                     \
   sections,                                                  \
   summary,                                                   \
   std::string(models::role::what),                           \
   DataKind::data,                                            \
   plays<models::role>,                                       \
   make_##name##_objective},
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE
  };
  return list;
}

const Kind& kind_of(const std::string& name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  if (found == kinds().end()) throw UsageError("objective: " + not_one_of(name, objective_names()));
  return *found;
}

std::vector<std::string> objectives_for(const models::Model& model) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    if (kind.suits(model)) names.push_back(kind.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> objective_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::string objective_summaries() {
  std::vector<std::string> summaries;
  for (const Kind& kind : kinds()) summaries.push_back(kind.name + ": " + kind.summary);
  return join(summaries, "; ");
}

std::string objective_of(const models::Model& model, const std::string& name, std::optional<DataKind> data) {
  const std::vector<std::string> suitable = objectives_for(model);
  if (name == "auto") {
    check<UsageError>(!suitable.empty(), "--arch ", model.config().arch(),
                      ": no objective of pre-training is for it; finetune --arch ", model.config().arch(),
                      " trains it on labelled examples");
    const auto fits = [&](const std::string& one) { return data_of(one) == data; };
    const auto first = std::ranges::find_if(suitable, fits);
    return first == suitable.end() ? suitable.front() : *first;
  }
  const Kind& kind = kind_of(name);
  check<UsageError>(kind.suits(model), "--objective ", name, " needs a model that ", kind.needed, ": --arch ",
                    models::architectures_with(kind.needed), "; this one supports ",
                    suitable.empty() ? "none" : join(suitable));
  return name;
}

bool takes_option(const std::string& objective, const std::string& section, const std::string& option) {
  return std::ranges::any_of(split(kind_of(objective).sections, ' '), [&](const std::string& taken) {
    return taken == section || taken == concatenate(section, '.', option);
  });
}

void prepare(models::ModelConfig& config, const std::string& objective) {
  if (objective != "auto") config->prepare_for(kind_of(objective).needed);
}

DataKind data_of(const std::string& objective) {
  return kind_of(objective).data;
}

std::unique_ptr<Objective> make_objective(const std::string& name, const ObjectiveInputs& inputs) {
  const Kind& kind = kind_of(objective_of(inputs.model, name, inputs.train.kind()));
  if (kind.data == DataKind::pairs) {
    check<UsageError>(
        inputs.train.pairs != nullptr, "--objective ", kind.name,
        " is trained on pairs of texts; make a pairs file: tokenize --pairs SOURCE TARGET -t TOKENIZER -o "
        "pairs.h5");
  } else {
    check<UsageError>(inputs.train.text != nullptr, "--objective ", kind.name,
                      " is trained on text, not on pairs of texts; give token files or text, or another --arch");
  }
  return kind.make(inputs);
}

}  // namespace heddle::training
