#include "libcore/training/objectives.hpp"

#include <algorithm>

#include "libcore/models/architecture.hpp"

namespace heddle::training {

#define HEDDLE_OBJECTIVE(name, role, data, summary) ObjectiveChoice name##_defaults();
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE

namespace {

// Entry of the list for an objective, besides its settings.
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
#define HEDDLE_OBJECTIVE_TOO(name, role, data) \
  {#name, std::string(models::role::ability), DataKind::data, plays<models::role>},
#define HEDDLE_OBJECTIVE(name, role, data, summary) HEDDLE_OBJECTIVE_TOO(name, role, data)
#include "libcore/training/objectives.def"
#undef HEDDLE_OBJECTIVE
  };
  return list;
}

// The line of the objective that the model suits; if there is none, the first.
const Listed& listed(const ObjectiveChoice& objective, const models::Model& model) {
  const auto suits = [&](const Listed& of) { return of.name == objective.name() && of.suits(model); };
  const auto found = std::ranges::find_if(listed(), suits);
  return found != listed().end() ? *found : *std::ranges::find(listed(), objective.name(), &Listed::name);
}

std::vector<Listed> suitable(const models::Model& model) {
  std::vector<Listed> suitable;
  std::ranges::copy_if(listed(), std::back_inserter(suitable), [&](const Listed& of) { return of.suits(model); });
  return suitable;
}

}  // namespace

Evaluators counting_batches(const EvaluationInputs& inputs, Index windows) {
  const Index time = inputs.sequence_length > 0 ? inputs.sequence_length : inputs.model.tokens().training_length();
  const Index step = windows * (inputs.stride > 0 ? inputs.stride : time);
  const Index batches = (inputs.data.text->size() + step - 1) / step;
  return {inputs.group, [&inputs, batches, done = Index(0)]() mutable {
            inputs.progress(std::min(done++, batches), batches);
            return false;
          }};
}

void refuse_other_windows(const EvaluationInputs& inputs) {
  check<UsageError>(inputs.stride == 0, "`stride`: needs a model that predicts each next token; ", inputs.model_name,
                    " reads its windows without overlap");
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
  const Listed& wanted = listed(objective, model);
  std::vector<std::string> names;
  for (const Listed& of : suitable(model)) names.push_back(of.name);
  check<UsageError>(wanted.suits(model), "`objective` ", wanted.name, " needs a model that ", wanted.needed,
                    ": `arch` ", models::architectures_with(wanted.needed), "; this one supports ",
                    names.empty() ? "none" : join(names));
}

void prepare(models::ModelConfig& config, const ObjectiveChoice& objective) {
  for (const Listed& of : listed()) {
    if (of.name == objective.name()) config->prepare_for(of.needed);
  }
  objective->fit(config);
}

DataKind data_of(const ObjectiveChoice& objective, const models::Model& model) {
  return listed(objective, model).data;
}

void check_has_data(const ObjectiveChoice& objective, const models::Model& model, const TrainingData& data) {
  const DataKind wanted = data_of(objective, model);
  const DataDescription& description = description_of(wanted);
  const std::optional<DataKind> given = data.kind();
  check<UsageError>(data.has(wanted), "`objective` ", objective.name(), " is trained on ", description.content,
                    given ? ", not on " + description_of(*given).content : "", "; ", description.origin);
}

std::unique_ptr<Objective> make_objective(const ObjectiveChoice& choice, const ObjectiveInputs& inputs) {
  check_suits(choice, inputs.model);
  check_has_data(choice, inputs.model, inputs.train);
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
