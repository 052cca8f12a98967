#include "heddle/formats/decoder_file.hpp"

#include "heddle/tensor/threads.hpp"

namespace heddle::formats {

std::vector<NamedTensor> named_tensors(const Parameters& parameters) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : parameters.all()) tensors.push_back({parameter.name, parameter.value()});
  return tensors;
}

namespace {

models::Decoder unset_decoder(const ModelFile& file) {
  try {
    return {file.config<models::ModelConfig>(), std::nullopt};
  } catch (const UsageError& error) {
    throw DataError(file.file().path() + ": /config: " + error.what() + ". The file is damaged or not heddle's");
  }
}

// A configuration may ask for any amount of memory; it gets none until the file is known to have weights for it.
void check_weights(const ModelFile& file) {
  const Simulation simulation;
  file.weights().check_match(named_tensors(unset_decoder(file).parameters()));
}

}  // namespace

LoadedDecoder load_decoder(const ModelFile& file) {
  check_weights(file);
  LoadedDecoder loaded{unset_decoder(file), file.tokenizer()};
  check<DataError>(loaded.tokenizer.vocab_size() <= loaded.model.config().vocab_size, file.file().path(),
                   ": a tokenizer of ", loaded.tokenizer.vocab_size(), " pieces with a model of ",
                   loaded.model.config().vocab_size);
  file.weights().read(named_tensors(loaded.model.parameters()));
  return loaded;
}

}  // namespace heddle::formats
