#include "tools/convert/peft.hpp"

#include <map>

#include "formats/heddle/task_file.hpp"
#include "formats/huggingface/peft_adapter.hpp"
#include "libcore/base/fields_in_messages.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle {

namespace {

// The base with the adapter's matrices; where it has none, the correction is zero.
formats::LoadedTask adapted(const formats::ModelFile& base, const formats::PeftAdapter& adapter,
                            const std::string& directory) {
  const auto config = base.config<models::ModelConfig>();
  formats::NewTask task{.task = {}, .adapters = adapter.options, .rate = [](std::string_view) { return 0.0; }};
  task.task.task = config.as<models::SourceConfig>() != nullptr ? models::Task::translate : models::Task::lm;
  std::map<std::string, Tensor> values;
  for (const formats::NamedTensor& weight : adapter.weights) values.emplace(weight.name, weight.value);
  try {
    formats::LoadedTask loaded = formats::start_task(base, task);
    for (const Parameter& parameter : loaded.model->parameters().all()) {
      if (parameter.name.find("/lora/") == std::string::npos) continue;
      const auto found = values.find(parameter.name);
      found == values.end() ? parameter.value().fill(0) : parameter.value().assign(found->second);
      if (found != values.end()) values.erase(found);
    }
    check<DataError>(values.empty(), directory, ": adapts ", values.empty() ? "" : values.begin()->first,
                     ", which takes no adapters in this model");
    return loaded;
  } catch (const UsageError& error) {
    throw DataError(concatenate(directory, ": ", plain_field_names(error.what())));
  }
}

}  // namespace

void convert_peft(const std::string& directory, const std::string& base, const std::string& output,
                  const cli::Arguments& arguments) {
  check<DataError>(!base.empty(), directory, ": is an adapter of ", text::quoted(formats::peft_base(directory)),
                   "; name the model file that convert made of that model with --base");
  const formats::ModelFile file(base);
  std::vector<formats::ParameterShape> shapes;
  for (const formats::TensorInfo& weight : file.weights().tensors()) shapes.push_back({weight.name, weight.shape});
  const formats::PeftAdapter adapter =
      formats::read_peft_adapter(directory, file.config<models::ModelConfig>().arch(), shapes);
  const formats::LoadedTask loaded = adapted(file, adapter, directory);
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  for (const std::string& input : adapter.files) formats::add_input(provenance, "adapter", input);
  formats::add_input(provenance, "base", base);
  const formats::History history;
  formats::SavedTask saved{*loaded.model, &loaded.tokenizer->model(), history, provenance};
  if (loaded.source_tokenizer) saved.source_tokenizer = &loaded.source_tokenizer->model();
  formats::save_adapter(output, saved, adapter.options, {formats::readable_path(base), file.weights().fingerprint()});
  arguments.say(concatenate(output, ": adapter of rank ", adapter.options.lora_rank, " of ",
                            adapter.options.lora_targets, " for ", base));
}

}  // namespace heddle
