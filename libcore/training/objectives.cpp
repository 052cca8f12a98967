#include "libcore/training/objectives.hpp"

#include <algorithm>

#include "libcore/models/architecture.hpp"

namespace heddle::training {

#define HEDDLE_OBJECTIVE(name, role, data, summary) ObjectiveChoice name##_defaults();
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE

namespace {

// What the list says of an objective besides its settings.
struct Listed {
  std::string name, needed;
  DataKind data;
  bool (*suits)(const models::Model& model);
};

template <class Role>
bool plays(const models::Model& model) {
  return model.as<Role>() != nullptr;
}

const std::vector<Listed>& listed() {
  static const std::vector<Listed> list = {
#define HEDDLE_OBJECTIVE(name, role, data, summary) \
  {#name, std::string(models::role::what), DataKind::data, plays<models::role>},
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE
  };
  return list;
}

const Listed& listed(const ObjectiveChoice& objective) {
  return *std::ranges::find(listed(), objective.name(), &Listed::name);
}

std::vector<Listed> suitable(const models::Model& model) {
  std::vector<Listed> suitable;
  std::ranges::copy_if(listed(), std::back_inserter(suitable), [&](const Listed& of) { return of.suits(model); });
  return suitable;
}

}  // namespace

std::function<bool()> counting_batches(const EvaluationInputs& inputs, Index windows) {
  const Index time = inputs.sequence_length > 0 ? inputs.sequence_length : inputs.model.tokens().training_length();
  const Index batches = (inputs.data.text->size() + windows * time - 1) / (windows * time);
  return [&inputs, batches, done = Index(0)]() mutable {
    inputs.progress(std::min(done++, batches), batches);
    return false;
  };
}

void refuse_memory(const EvaluationInputs& inputs) {
  check<UsageError>(inputs.memory.value_or(0) == 0,
                    "`memory`: needs a model that predicts next tokens, whose positions are relative and whose "
                    "attention can have a window; ",
                    inputs.model_name, " reads each window for itself");
}

ObjectiveChoice objective_for(const models::Model& model, std::optional<DataKind> data) {
  const std::vector<Listed> all = suitable(model);
  check<UsageError>(!all.empty(), "`arch` ", model.config().arch(),
                    ": no objective of pre-training is for it; it learns from labelled examples (finetune)");
  const auto first = std::ranges::find_if(all, [&](const Listed& of) { return of.data == data; });
  return kinds<ObjectiveSettings>().find((first == all.end() ? all.front() : *first).name).defaults;
}

void check_suits(const ObjectiveChoice& objective, const models::Model& model) {
  const Listed& wanted = listed(objective);
  std::vector<std::string> names;
  for (const Listed& of : suitable(model)) names.push_back(of.name);
  check<UsageError>(wanted.suits(model), "`objective` ", wanted.name, " needs a model that ", wanted.needed,
                    ": `arch` ", models::architectures_with(wanted.needed), "; this one supports ",
                    names.empty() ? "none" : join(names));
}

void prepare(models::ModelConfig& config, const ObjectiveChoice& objective) {
  config->prepare_for(listed(objective).needed);
}

DataKind data_of(const ObjectiveChoice& objective) {
  return listed(objective).data;
}

void check_has_data(const ObjectiveChoice& objective, const TrainingData& data) {
  if (data_of(objective) == DataKind::pairs) {
    check<UsageError>(data.pairs != nullptr, "`objective` ", objective.name(),
                      " is trained on pairs of texts; make a pairs file of sources and targets (tokenize)");
  } else {
    check<UsageError>(data.text != nullptr, "`objective` ", objective.name(),
                      " is trained on text, not on pairs of texts; give token files or text, or another `arch`");
  }
}

std::unique_ptr<Objective> make_objective(const ObjectiveChoice& choice, const ObjectiveInputs& inputs) {
  check_suits(choice, inputs.model);
  check_has_data(choice, inputs.train);
  return choice->make(inputs);
}

}  // namespace heddle::training

namespace heddle {

template <>
const KindList<training::ObjectiveSettings>& kinds() {
  static const KindList<training::ObjectiveSettings> list{"objective",
                                                          {
#define HEDDLE_OBJECTIVE(name, role, data, summary) {#name, summary, training::name##_defaults()},
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE
                                                          }};
  return list;
}

}  // namespace heddle
