#include "tools/convert/model_source.hpp"

#include <filesystem>
#include <set>

#include "formats/archives/json_archive.hpp"
#include "formats/gguf/gguf_model.hpp"
#include "formats/heddle/task_file.hpp"
#include "libcore/models/architecture.hpp"

namespace heddle {

namespace {

ModelSource read_file(const std::string& path) {
  const formats::ModelFile file(path);
  // Field by field: if a field throws, GCC destroys the preceding fields of an initialiser list twice.
  ModelSource source;
  source.parts.config = file.config<models::ModelConfig>();
  const models::ModelConfig& config = source.parts.config;
  check<DataError>(config.reads_tokens(), path, ": is of the architecture ", config.arch(), ", which reads ",
                   models::what_it_reads(config), "; convert and its averages are for models of texts");
  source.parts.tokenizer = file.tokenizer_model();
  if (formats::has_source_tokenizer(file.file())) {
    source.parts.source_tokenizer = formats::read_tokenizer_model(file.file(), formats::Side::source);
  }
  source.history = file.history();
  source.has_training = file.has_training();
  source.files = {path};
  if (file.has_part("task")) {
    const formats::LoadedTask loaded = formats::load_task(path);
    source.task = loaded.model->task();
    source.parts.weights = formats::named_tensors(loaded.model->parameters());
  } else {
    source.parts.weights = formats::named_tensors(formats::load_model(file).model->parameters());
  }
  // Checked now, because conversion would hide damage and non-finite numbers.
  file.weights().require_sound();
  return source;
}

ModelSource read_directory(const std::string& path) {
  check<DataError>(formats::is_model_directory(path), path,
                   ": is a directory without config.json, and without a tokenizer");
  ModelSource source;
  source.parts = formats::read_model_directory(path, source.files);
  source.task = source.parts.task;
  source.parts.config->spell_out();
  return source;
}

ModelSource read_gguf(const std::string& path) {
  ModelSource source;
  source.parts = formats::read_gguf_model(path);
  source.parts.config->spell_out();
  source.files = {path};
  return source;
}

void check_same(const formats::Json& first, const formats::Json& other, const std::string& path,
                const std::string& than, const std::set<std::string>& may_differ = {"dropout"}) {
  for (const auto& [name, value] : first.items()) {
    check<DataError>(may_differ.contains(name) || other[name] == value, path, ": has ", name, " ", other[name].dump(),
                     ", ", than, " ", value.dump(), "; only models of the same shape and task can be averaged");
  }
}

// The shape, with sizes in place of "auto", which files of former versions have.
formats::Json shape_of(const ModelSource& source) {
  models::ModelConfig config = source.parts.config;
  config->spell_out();
  return formats::to_json(config);
}

// Throws if averaging their weights makes no sense.
void check_alike(const ModelSource& first, const ModelSource& other) {
  const std::string &path = other.files.front(), &than = first.files.front();
  std::set<std::string> of_training{"dropout"};
  for (const FieldText& own : first.parts.config.fields()) {
    if (own.field.is_initial) of_training.insert(own.field.name);
  }
  check_same(shape_of(first), shape_of(other), path, than, of_training);
  check<DataError>(
      first.parts.tokenizer == other.parts.tokenizer && first.parts.source_tokenizer == other.parts.source_tokenizer,
      path, ": has another tokenizer than ", than);
  check<DataError>(first.task.has_value() == other.task.has_value(), first.task ? than : path,
                   ": was fine-tuned for a task, ", first.task ? path : than, " was not; they cannot be averaged");
  if (first.task) {
    check_same(formats::to_json(models::TaskSettings{*first.task}), formats::to_json(models::TaskSettings{*other.task}),
               path, than);
  }
}

// The mean of one tensor over the sources, whose parameters have the same order.
Tensor mean_of(const std::vector<ModelSource>& sources, std::size_t tensor) {
  const Shape& shape = sources.front().parts.weights[tensor].value.shape();
  std::vector<double> sums(static_cast<std::size_t>(shape.size()), 0.0);
  for (const ModelSource& source : sources) {
    const formats::NamedTensor& weights = source.parts.weights[tensor];
    check<DataError>(is_plain(weights.value.dtype()), source.files.front(), ": holds ", name_of(weights.value.dtype()),
                     " weights (", weights.name,
                     "), which are too coarse to average; use the model it was converted from");
    const std::vector<Real> values = weights.value.elements();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(values[i]);
  }
  const Tensor mean(shape);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    mean.data()[i] = static_cast<Real>(sums[i] / static_cast<double>(sources.size()));
  }
  return mean;
}

}  // namespace

ModelSource read_model_source(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return read_directory(path);
  return formats::is_gguf(path) ? read_gguf(path) : read_file(path);
}

ModelSource average_models(const std::vector<std::string>& paths) {
  std::vector<ModelSource> sources;
  for (const std::string& path : paths) {
    sources.push_back(read_model_source(path));
    check_alike(sources.front(), sources.back());
  }
  ModelSource mean{.parts = {sources.front().parts.config,
                             sources.front().parts.tokenizer,
                             {},
                             sources.front().parts.source_tokenizer},
                   .task = sources.front().task,
                   .history = {},
                   .has_training = false,
                   .files = {}};
  for (const ModelSource& source : sources)
    mean.files.insert(mean.files.end(), source.files.begin(), source.files.end());
  for (std::size_t i = 0; i < sources.front().parts.weights.size(); ++i) {
    mean.parts.weights.push_back({sources.front().parts.weights[i].name, mean_of(sources, i)});
  }
  return mean;
}

}  // namespace heddle
