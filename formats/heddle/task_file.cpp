#include "formats/heddle/task_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "libcore/base/fields_in_messages.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

constexpr const char *task_part = "task", *adapters_part = "adapters", *base_part = "base";
constexpr std::string_view task_prefix = "task/";  // prefix of the head's weights

ParameterSource mapped(const ModelFile& file) {
  const auto memory = std::make_shared<const MappedFile>(file.file().descriptor());
  return ParameterSource::given(
      [&file, memory](const Declaration& declaration) { return file.weights().map(declaration.names, memory); });
}

[[noreturn]] void refuse_damaged(const ModelFile& file, const char* part, const Error& error) {
  throw DataError(concatenate(file.file().path(), ": /", part, ": ", plain_field_names(error.what()),
                              ". The file is damaged or not heddle's"));
}

// Returns make(); errors are attributed to this part of the file.
template <class Make>
auto guarded(const ModelFile& file, const char* part, const Make& make) {
  try {
    return make();
  } catch (const UsageError& error) {
    refuse_damaged(file, part, error);
  } catch (const ShapeError& error) {
    refuse_damaged(file, part, error);
  }
}

}  // namespace

models::TaskConfig task_of(const ModelFile& file) {
  auto task = file.part<models::TaskConfig>(task_part);
  try {
    const data::LabelSet valid(task.labels);
  } catch (const DataError& error) {
    throw DataError(concatenate(file.file().path(), ": /", task_part, "/labels: ", error.what(),
                                ". The file is damaged or not heddle's"));
  }
  return task;
}

LowRankOptions adapters_of(const ModelFile& file) {
  return file.part<LowRankOptions>(adapters_part);
}

namespace {

ParameterSource divided(const ParameterSource& whole, const nn::ModelRanks* ranks) {
  return ranks == nullptr ? whole : ranks->divided(whole);
}

std::unique_ptr<models::TaskModel> build(const ModelFile& file, const models::ModelConfig& config,
                                         const ParameterSource& weights) {
  return guarded(file, task_part, [&] {
    return std::make_unique<models::TaskModel>(models::make_model(config, weights), task_of(file));
  });
}

void check_has_task(const ModelFile& file) {
  if (file.has_part(task_part)) return;
  const auto config = file.config<models::ModelConfig>();
  check<DataError>(config.reads_tokens() || config.as<models::GraphConfig>() != nullptr, file.file().path(),
                   ": is of the architecture ", config.arch(), ", which reads ", models::what_it_reads(config),
                   "; no task is for it");
  throw DataError(concatenate(file.file().path(),
                              ": was not fine-tuned for a task; use finetune first (or classify "
                              "--labels, with a decoder)"));
}

LoadedTask load_whole(const std::string& path) {
  const ModelFile file(path);
  check_has_task(file);
  const auto config = file.config<models::ModelConfig>();
  {
    const Simulation simulation;
    file.weights().check_match(named_tensors(build(file, config, ParameterSource::unset())->parameters()));
  }
  LoadedTask loaded{build(file, config, mapped(file))};
  if (!config.reads_tokens()) return loaded;
  loaded.tokenizer = file.tokenizer();
  check_fits(*loaded.tokenizer, config, path);
  loaded.source_tokenizer = load_source_tokenizer(file, loaded.model->body());
  return loaded;
}

// The base's file: the given one, else the file with the name in the adapter, in the adapter's directory. An untrusted
// adapter must not choose any other file.
std::string find_base(const std::string& adapter, const std::string& given, const std::string& noted) {
  namespace fs = std::filesystem;
  if (!given.empty()) return given;
  for (const std::string& named : {noted, path_of_readable(noted)}) {
    const fs::path beside = fs::path(adapter).parent_path() / fs::path(named).filename();
    std::error_code ignored;
    if (fs::is_regular_file(beside, ignored)) return beside.string();
  }
  throw DataError(concatenate(adapter, ": is an adapter of ", text::quoted(noted),
                              ", which is not in the same directory; name it with --base"));
}

// An adapter with the model that it belongs to.
class Adapted {
 public:
  Adapted(const std::string& path, const std::string& given) : adapter_(path, FileKind::adapter) {
    const auto noted = adapter_.part<BaseModel>(base_part);
    base_.emplace(find_base(path, given, noted.name));
    check<DataError>(base_->weights().fingerprint() == noted.weights, path, ": is an adapter of another model than ",
                     base_->file().path(), "; it was trained on ", noted.name, ", whose weights have the hash ",
                     noted.weights);
    check_whole(*base_);
  }

  const ModelFile& adapter() const { return adapter_; }
  const ModelFile& base() const { return *base_; }
  models::ModelConfig config() const { return base_->config<models::ModelConfig>(); }
  ParameterSource weights() const {
    const ParameterSource of_base = mapped(*base_), of_adapter = mapped(adapter_);
    const ParameterSource both = ParameterSource::given([=, this](const Declaration& declaration) {
      return (adapter_.weights().has(declaration.names[0]) ? of_adapter : of_base)(declaration);
    });
    return with_adapters(both, adapters_of(adapter_));
  }

 private:
  ModelFile adapter_;
  std::optional<ModelFile> base_;
};

LoadedModel load_adapted_body(const Adapted& files) {
  auto model =
      guarded(files.adapter(), "adapters", [&] { return models::make_model(files.config(), files.weights()); });
  auto source_tokenizer = load_source_tokenizer(files.base(), *model);
  return {std::move(model), files.base().tokenizer(), std::move(source_tokenizer)};
}

LoadedModel load_unadapted(const std::string& path, const std::string& base) {
  check<UsageError>(base.empty(), path, ": is a whole model, not an adapter; leave out --base");
  return load_model(ModelFile(path));
}

LoadedTask load_adapted(const Adapted& files) {
  LoadedTask loaded{build(files.adapter(), files.config(), files.weights())};
  if (!files.config().reads_tokens()) return loaded;
  loaded.tokenizer = files.base().tokenizer();
  loaded.source_tokenizer = load_source_tokenizer(files.base(), loaded.model->body());
  return loaded;
}

// A file's tensor for a declaration, copied as Reals.
Tensor read_copy(const ModelFile& file, const Declaration& declaration) {
  const auto memory = std::make_shared<const MappedFile>(file.file().descriptor());
  const Tensor stored = file.weights().map(declaration.names, memory), copy(stored.shape());
  check_trainable(file, declaration.names[0], stored.dtype());
  copy.assign(stored);
  return copy;
}

void write_common(ModelWriter& writer, const SavedTask& saved) {
  writer.config(saved.model.body().config());
  if (saved.tokenizer != nullptr) writer.tokenizer(*saved.tokenizer);
  if (saved.source_tokenizer != nullptr) writer.source_tokenizer(*saved.source_tokenizer);
  if (saved.history.rows() > 0) writer.history(saved.history);
}

std::vector<TensorSource> weights_of(const SavedTask& saved) {
  if (saved.weights.empty()) return sources_of(named_tensors(saved.model.parameters()));
  return {saved.weights.begin(), saved.weights.end()};
}

void save_whole(const std::string& path, const SavedTask& saved, std::span<const TensorSource> weights) {
  ModelWriter writer(path);
  write_common(writer, saved);
  if (!models::has_own_head(saved.model.task().task)) writer.part(task_part, saved.model.task());
  writer.weights(weights);
  saved.training(writer);
  writer.commit(saved.provenance);
}

// Merges matrices with their adapters; other tensors stay unchanged.
std::vector<NamedTensor> merged_weights(const models::TaskModel& model, const LowRankOptions& adapters) {
  std::vector<NamedTensor> merged;
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.name.find("/lora/") != std::string::npos) continue;
    const std::string stem = parameter.name.substr(0, parameter.name.rfind('/'));
    const Parameter* const a = model.parameters().find(stem + "/lora/a");
    if (a == nullptr || !parameter.name.ends_with("/weight")) {
      merged.push_back({parameter.name, parameter.value()});
      continue;
    }
    const Tensor sum(parameter.value().shape());
    sum.assign(parameter.value());
    const Parameter* const b = model.parameters().find(stem + "/lora/b");
    matmul(matrix(b->value()), matrix(a->value()), target(sum), static_cast<Real>(adapters.scale()), 1);
    merged.push_back({parameter.name, sum});
  }
  return merged;
}

}  // namespace

std::vector<std::string> possible_bases(const std::string& adapter) {
  try {
    if (kind_of(adapter) != FileKind::adapter) return {};
    const std::string noted = ModelFile(adapter, FileKind::adapter).part<BaseModel>(base_part).name;
    std::vector<std::string> bases;
    for (const std::string& path : {noted, path_of_readable(noted)}) {
      bases.push_back(path);
      bases.push_back(std::filesystem::path(adapter).replace_filename(std::filesystem::path(path).filename()).string());
    }
    return bases;
  } catch (const DataError&) {
    return {};
  }
}

LoadedTask load_task(const std::string& path, const std::string& base) {
  if (kind_of(path) == FileKind::adapter) return load_adapted(Adapted(path, base));
  check<UsageError>(base.empty(), path, ": is a whole model, not an adapter; leave out --base");
  return load_whole(path);
}

LoadedTask load_to_merge(const std::string& adapter, const std::string& base) {
  const Adapted files(adapter, base);
  files.adapter().weights().require_sound();
  files.base().weights().require_sound();
  return load_adapted(files);
}

LoadedModel load_language_model(const std::string& path, const std::string& base) {
  if (kind_of(path) != FileKind::adapter) return load_unadapted(path, base);
  const Adapted files(path, base);
  const auto task = task_of(files.adapter()).task;
  check<DataError>(models::has_own_head(task), path, ": is an adapter for the task ", to_text(task),
                   ", not for a language model; use it with classify, without --labels");
  return load_adapted_body(files);
}

LoadedModel load_body(const std::string& path, const std::string& base) {
  if (kind_of(path) != FileKind::adapter) return load_unadapted(path, base);
  return load_adapted_body(Adapted(path, base));
}

LoadedTask start_task(const ModelFile& base, const NewTask& options) {
  Tokenizers tokenizers = check_whole(base);
  base.weights().require_sound();
  if (options.resumed != nullptr) options.resumed->weights().require_sound();
  const ParameterSource fresh(options.seed);
  const auto of_file = [&](const ModelFile& file, const Declaration& declaration) {
    return options.rate(declaration.names[0]) == 0 ? mapped(file)(declaration) : read_copy(file, declaration);
  };
  const ParameterSource weights = ParameterSource::given([&](const Declaration& declaration) {
    const std::string& name = declaration.names[0];
    if (options.resumed != nullptr && options.resumed->weights().has(name))
      return of_file(*options.resumed, declaration);
    const bool is_new = !base.weights().has(name) || name.starts_with(task_prefix);
    return is_new ? fresh(declaration) : of_file(base, declaration);
  });
  const ParameterSource source =
      with_adapters(divided(weights, options.ranks).trained_at(options.rate), options.adapters);
  auto config = base.config<models::ModelConfig>();
  if (options.dropout >= 0) config->dropout = options.dropout;
  auto body = models::make_model(config, source);
  return {std::make_unique<models::TaskModel>(std::move(body), options.task), std::move(tokenizers.own),
          std::move(tokenizers.of_sources)};
}

LoadedTask start_new_task(models::ModelConfig config, const std::optional<text::Tokenizer>& tokenizer,
                          const NewTask& options) {
  if (options.resumed != nullptr) options.resumed->weights().require_sound();
  const ParameterSource fresh(options.seed);
  const ParameterSource weights = ParameterSource::given([&](const Declaration& declaration) {
    return options.resumed != nullptr ? read_copy(*options.resumed, declaration) : fresh(declaration);
  });
  const ParameterSource source =
      with_adapters(divided(weights, options.ranks).trained_at(options.rate), options.adapters);
  if (options.dropout >= 0) config->dropout = options.dropout;
  return {std::make_unique<models::TaskModel>(models::make_model(config, source), options.task), tokenizer};
}

void save_task(const std::string& path, const SavedTask& saved) {
  save_whole(path, saved, weights_of(saved));
}

void save_adapter(const std::string& path, const SavedTask& saved, const LowRankOptions& adapters,
                  const BaseModel& base) {
  ModelWriter writer(path, FileKind::adapter);
  write_common(writer, saved);
  writer.part(task_part, saved.model.task());
  writer.part(adapters_part, adapters);
  writer.part(base_part, base);
  const auto is_written = [&](const TensorSource& source) {
    return source.name.find("/lora/") != std::string::npos || source.name.starts_with(task_prefix) ||
           saved.model.parameters().find(source.name)->is_trained();
  };
  std::vector<TensorSource> trained;
  std::ranges::copy_if(weights_of(saved), std::back_inserter(trained), is_written);
  writer.weights(trained);
  saved.training(writer);
  writer.commit(saved.provenance);
}

void save_merged(const std::string& path, const SavedTask& saved, const LowRankOptions& adapters) {
  save_whole(path, saved, sources_of(merged_weights(saved.model, adapters)));
}

}  // namespace heddle::formats
