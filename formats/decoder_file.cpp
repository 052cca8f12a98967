#include "heddle/formats/decoder_file.hpp"

#include "heddle/tensor/threads.hpp"

namespace heddle::formats {

std::vector<NamedTensor> named_tensors(const Parameters& parameters) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : parameters.all()) tensors.push_back({parameter.name, parameter.value()});
  return tensors;
}

namespace {

models::Decoder build(const ModelFile& file, ParameterSource weights) {
  try {
    return {file.config<models::ModelConfig>(), std::move(weights)};
  } catch (const UsageError& error) {
    throw DataError(file.file().path() + ": /config: " + error.what() + ". The file is damaged or not heddle's");
  }
}

// A configuration may ask for any amount of memory; it gets none until the file is known to have weights for it.
void check_weights(const ModelFile& file) {
  const Simulation simulation;
  file.weights().check_match(named_tensors(build(file, ParameterSource::unset()).parameters()));
}

LoadedDecoder load(const ModelFile& file, ParameterSource weights) {
  check_weights(file);
  LoadedDecoder loaded{build(file, std::move(weights)), file.tokenizer()};
  check<DataError>(loaded.tokenizer.vocab_size() <= loaded.model.config().vocab_size, file.file().path(),
                   ": a tokenizer of ", loaded.tokenizer.vocab_size(), " pieces with a model of ",
                   loaded.model.config().vocab_size);
  return loaded;
}

}  // namespace

LoadedDecoder load_decoder(const ModelFile& file) {
  const auto mapped = std::make_shared<const MappedFile>(file.file().descriptor());
  return load(file, ParameterSource::given([&file, &mapped](const Declaration& declaration) {
                return file.weights().map(declaration.names, mapped);
              }));
}

LoadedDecoder load_decoder_to_train(const ModelFile& file) {
  LoadedDecoder loaded = load(file, ParameterSource::unset());
  file.weights().read(named_tensors(loaded.model.parameters()));
  return loaded;
}

}  // namespace heddle::formats
