#include "formats/heddle/load_model.hpp"

#include "libcore/base/fields_in_messages.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle::formats {

std::vector<NamedTensor> named_tensors(const Parameters& parameters) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : parameters.all()) tensors.push_back({parameter.name, parameter.value()});
  return tensors;
}

namespace {

// Whether the name is of a fine-tuned model's head, which the body does not use.
bool is_of_task(const std::string& name) {
  return name.starts_with("task/");
}

std::unique_ptr<models::Model> build(const ModelFile& file, ParameterSource weights) {
  try {
    return models::make_model(file.config<models::ModelConfig>(), std::move(weights));
  } catch (const UsageError& error) {
    throw DataError(file.file().path() + ": /config: " + plain_field_names(error.what()) +
                    ". The file is damaged or not heddle's");
  }
}

// Provides tensors of the requested shapes; throws if many are requested that the file lacks.
ParameterSource shapes_only(const ModelFile& file) {
  return ParameterSource::given([&file, lacking = 0](const Declaration& declaration) mutable {
    constexpr int most_lacking = 100;
    for (const std::string& name : declaration.names) lacking += !file.weights().has(name);
    check<DataError>(lacking <= most_lacking, file.file().path(), ": /weights: lacks ", declaration.names[0], " and ",
                     most_lacking, " more tensors, which the model needs");
    return Tensor(declaration.stacked_shape());
  });
}

// A configuration may have any number of layers of any size; no memory is allocated until the file is known to have
// the weights.
void check_weights(const ModelFile& file) {
  const Simulation simulation;
  file.weights().check_match(named_tensors(build(file, shapes_only(file))->parameters()), is_of_task);
}

void check_reads_tokens(const ModelFile& file) {
  const auto config = file.config<models::ModelConfig>();
  check<DataError>(config.reads_tokens(), file.file().path(), ": is of the architecture ", config.arch(),
                   ", which reads ", models::what_it_reads(config), ", not texts",
                   config.as<models::GraphConfig>() != nullptr ? "; classify answers for graphs" : "");
}

std::unique_ptr<models::Model> build_checked(const ModelFile& file, ParameterSource weights) {
  check_weights(file);
  return build(file, std::move(weights));
}

LoadedModel with_tokenizers(std::unique_ptr<models::Model> model, const ModelFile& file) {
  check_reads_tokens(file);
  LoadedModel loaded{std::move(model), file.tokenizer()};
  check_fits(loaded.tokenizer, loaded.model->config(), file.file().path());
  loaded.source_tokenizer = load_source_tokenizer(file, *loaded.model);
  return loaded;
}

}  // namespace

void check_fits(const text::Tokenizer& tokenizer, const models::ModelConfig& config, const std::string& path) {
  check<DataError>(tokenizer.vocab_size() <= config.tokens().vocab_size, path, ": a tokenizer of ",
                   tokenizer.vocab_size(), " pieces with a model of ", config.tokens().vocab_size);
}

std::optional<text::Tokenizer> load_source_tokenizer(const ModelFile& file, const models::Model& model) {
  const auto* const reader = model.as<models::SequenceToSequence>();
  if (reader == nullptr) return std::nullopt;
  const Index pieces = read_vocab_size(file.file(), Side::source);
  check<DataError>(pieces <= reader->source_vocab_size(), file.file().path(), ": a source tokenizer of ", pieces,
                   " pieces with a model of ", reader->source_vocab_size());
  if (!has_source_tokenizer(file.file())) return std::nullopt;
  return read_tokenizer(file.file(), Side::source);
}

std::unique_ptr<models::Model> load_weights(const ModelFile& file) {
  const auto mapped = std::make_shared<const MappedFile>(file.file().descriptor());
  return build_checked(file, ParameterSource::given([&file, &mapped](const Declaration& declaration) {
                         return file.weights().map(declaration.names, mapped);
                       }));
}

LoadedModel load_model(const ModelFile& file) {
  return with_tokenizers(load_weights(file), file);
}

Tokenizers check_whole(const ModelFile& file) {
  check_weights(file);
  if (!file.config<models::ModelConfig>().reads_tokens()) return {};
  LoadedModel loaded = load_model(file);
  return {std::move(loaded.tokenizer), std::move(loaded.source_tokenizer)};
}

models::ModelConfig checked_config(const ModelFile& file) {
  check_weights(file);
  return file.config<models::ModelConfig>();
}

void check_trainable(const ModelFile& file, const std::string& name, DType dtype) {
  const StoredBlock& block = block_of(dtype);
  check<DataError>(block.bytes >= block.elements, file.file().path(), ": holds ", name, " as ", block.name,
                   ", which has too few bits to be trained; use the model that it was converted from, or train ",
                   "adapters on it");
}

std::unique_ptr<models::Model> load_weights_to_train(const ModelFile& file) {
  for (const TensorInfo& tensor : file.weights().tensors()) check_trainable(file, tensor.name, tensor.dtype);
  std::unique_ptr<models::Model> model = build_checked(file, ParameterSource::unset());
  file.weights().read(named_tensors(model->parameters()), is_of_task);
  return model;
}

namespace {

bool is_other(const std::string&) {
  return true;
}

}  // namespace

std::unique_ptr<models::Model> load_weights_to_train(const ModelFile& file, const nn::ModelRanks& ranks) {
  if (!ranks.share()) return load_weights_to_train(file);
  const ParameterSource whole = ParameterSource::given([&file](const Declaration& declaration) {
    const Tensor all(declaration.stacked_shape());
    std::vector<NamedTensor> tensors;
    for (const std::string& name : declaration.names) {
      tensors.push_back({name, all.narrowed(0, std::ssize(tensors) * declaration.shape[0], declaration.shape[0])});
    }
    file.weights().read(tensors, is_other);
    return all;
  });
  return build_checked(file, ranks.divided(whole));
}

void read_part(const TensorGroup& tensors, const NamedTensor& own, const nn::PartOfWhole& part) {
  Shape shape = own.value.shape();
  shape.set(part.dimension, part.whole);
  const NamedTensor whole{own.name, Tensor(shape)};
  tensors.read(std::span(&whole, 1), is_other);
  own.value.assign(nn::part_of(whole.value, part, own.value.shape()));
}

LoadedModel load_model_to_train(const ModelFile& file) {
  return with_tokenizers(load_weights_to_train(file), file);
}

}  // namespace heddle::formats
