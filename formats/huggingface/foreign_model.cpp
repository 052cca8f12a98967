#include "formats/huggingface/foreign_model.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "formats/files/atomic_file.hpp"
#include "formats/huggingface/foreign_architecture.hpp"
#include "formats/huggingface/foreign_parts.hpp"
#include "formats/huggingface/foreign_tokenizer.hpp"
#include "formats/huggingface/sequence_config.hpp"
#include "formats/huggingface/sharded_safetensors.hpp"
#include "formats/huggingface/side_files.hpp"
#include "libcore/base/fields_in_messages.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/models/model.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

std::string config_path(const std::string& directory) {
  return (std::filesystem::path(directory) / "config.json").string();
}

const ForeignArchitecture& architecture_of(const JsonNode& config) {
  const JsonNode type = config["model_type"];
  std::vector<std::string> known;
  for (const ForeignArchitecture& architecture : foreign_architectures()) {
    if (architecture.model_type == type.text()) return architecture;
    known.push_back(architecture.model_type);
  }
  type.refuse(concatenate("is ", text::quoted(type.text()), "; heddle supports ", join(known)));
}

TensorSet tensors_of(const ForeignArchitecture& architecture, const DirectoryTensors& stored) {
  std::vector<std::string> names;
  for (const Safetensor& tensor : stored.tensors) {
    if (!is_absent(architecture.tensors, tensor)) names.push_back(tensor.name);
  }
  return {architecture.tensors, names};
}

// Throws DataError unless the tokenizers suit the model.
void check_tokenizers(const std::string& path, const JsonNode& config, const ModelParts& parts) {
  const auto check_size = [&](const text::TokenizerModel& tokenizer, Index most, const char* says) {
    const auto pieces = static_cast<Index>(tokenizer.pieces.size());
    check<DataError>(pieces <= most, path, ": the tokenizer has ", pieces, " pieces and ", says, most);
  };
  check_size(parts.tokenizer, parts.config.tokens().vocab_size, "config.json says vocab_size = ");
  const auto* const reader = parts.config.as<models::SourceConfig>();
  if (reader == nullptr) return;
  const text::TokenizerModel& source = parts.source_tokenizer ? *parts.source_tokenizer : parts.tokenizer;
  check_text_end(config, parts.tokenizer);
  check_text_end(config, source);
  check_size(source, reader->source_vocabulary(parts.config.tokens().vocab_size), "the vocabulary of sources ");
  check<DataError>(!reader->share_embeddings || source.pieces == parts.tokenizer.pieces, path,
                   ": source and target have vocabularies of their own, but the model shares their embeddings");
}

struct Written {
  const ForeignArchitecture* architecture;
  nlohmann::ordered_json json;
  models::ModelConfig config;  // parsed back from the JSON
};

Written express(ModelParts parts) {
  if (auto* const source = parts.config.as<models::SourceConfig>()) set_start_token(*source, parts.tokenizer);
  std::vector<std::string> nearest_lost;
  std::string nearest_type;
  const std::vector<ParameterShape> parameters = parameters_of(parts.config);
  for (const ForeignArchitecture& architecture : foreign_architectures()) {
    if (architecture.arch != parts.config.arch()) continue;
    const nlohmann::ordered_json json = architecture.write_config(parts.config, parts.tokenizer);
    const JsonDocument document(json.dump(), architecture.model_type);
    const TensorSet tensors(architecture.tensors, foreign_names(architecture.tensors, parameters));
    const models::ModelConfig kept = architecture.read_config(JsonNode(document), tensors);
    const std::vector<std::string> lost = lost_fields(parts.config, kept);
    if (lost.empty()) return {&architecture, json, kept};
    if (nearest_type.empty() || lost.size() < nearest_lost.size()) {
      nearest_lost = lost;
      nearest_type = architecture.model_type;
    }
  }
  const std::string advice = "; write a heddle file: -o NAME.h5";
  if (nearest_type.empty()) {
    std::vector<std::string> types;
    for (const ForeignArchitecture& architecture : foreign_architectures()) types.push_back(architecture.model_type);
    throw DataError(concatenate("models of Hugging Face's types ", join(types),
                                " can be written; this model is of the architecture ", parts.config.arch(), advice));
  }
  throw DataError(concatenate("no architecture of Hugging Face's that heddle supports has such a model; ", nearest_type,
                              " has no ", join(nearest_lost), advice));
}

Safetype stored_type(const Tensor& tensor, WeightType type) {
  if (tensor.dtype() == DType::bfloat16) return Safetype::bf16;
  return type == WeightType::f16 && tensor.rank() == 2 && tensor.shape()[0] > 1 ? Safetype::f16 : Safetype::f32;
}

// The type of the matrices; vectors are f32 beside any.
const char* torch_name(const std::vector<SafetensorOutput>& tensors) {
  const auto has = [&](Safetype type) { return std::ranges::count(tensors, type, &SafetensorOutput::type) > 0; };
  return has(Safetype::f16) ? "float16" : has(Safetype::bf16) ? "bfloat16" : "float32";
}

}  // namespace

std::vector<std::string> companion_files(const std::string& path) {
  constexpr std::array<std::string_view, 11> names{"tokenizer.json",
                                                   "vocab.txt",
                                                   "vocab.json",
                                                   "merges.txt",
                                                   "encoder.json",
                                                   "vocab.bpe",
                                                   "model.safetensors.index.json",
                                                   "source.spm",
                                                   "target.spm",
                                                   "target_vocab.json",
                                                   "spiece.model"};
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> files = side_files_of(path);
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path file = entry->path();
    const bool is_read = file.extension() == ".safetensors" || std::ranges::count(names, file.filename().string()) > 0;
    if (is_read) files.push_back(file.string());
  }
  return files;
}

bool is_model_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(config_path(path), ignored);
}

bool has_tensors(const std::string& path) {
  const std::filesystem::path folder(path);
  std::error_code ignored;
  return std::filesystem::exists(folder / "model.safetensors", ignored) ||
         std::filesystem::exists(folder / "model.safetensors.index.json", ignored) ||
         std::filesystem::exists(folder / "pytorch_model.bin", ignored);
}

ModelParts read_model_directory(const std::string& path, std::vector<std::string>& files) {
  const JsonDocument document = read_json(config_path(path));
  const JsonNode config(document);
  const ForeignArchitecture& architecture = architecture_of(config);
  ModelParts parts;
  const DirectoryTensors stored = read_directory_tensors(path);
  const TensorSet tensors = tensors_of(architecture, stored);
  parts.config = architecture.read_config(config, tensors);
  if (architecture.read_task != nullptr) parts.task = architecture.read_task(config, tensors);
  std::vector<ParameterShape> parameters;
  try {
    parameters = parameters_of(parts.config, parts.task);
  } catch (const UsageError& error) {
    throw DataError(config_path(path) + ": " + plain_field_names(error.what()));
  }
  DirectoryTokenizers tokenizers = read_directory_tokenizers(path);
  parts.tokenizer = std::move(tokenizers.target);
  if (parts.config.as<models::SourceConfig>() != nullptr) parts.source_tokenizer = std::move(tokenizers.source);
  check_tokenizers(path, config, parts);
  const auto* const reader = parts.config.as<models::SourceConfig>();
  check_side_files(path, config,
                   {parts.tokenizer, text_end(parts.tokenizer), reader != nullptr ? reader->start_token : -1});
  parts.weights = from_foreign(architecture.tensors, stored.tensors, parameters, path);
  files.push_back(config_path(path));
  files.insert(files.end(), stored.files.begin(), stored.files.end());
  return parts;
}

void write_model_directory(const std::string& path, const ModelParts& parts, WeightType type) {
  check<DataError>(!parts.source_tokenizer.has_value(), "the model has a tokenizer of its own for sources, which ",
                   "heddle does not write into directories; give -o the name of a model file");
  Written written = express(parts);
  written.json["model_type"] = written.architecture->model_type;
  std::vector<SafetensorOutput> tensors;
  for (const NamedTensor& tensor :
       to_foreign(written.architecture->tensors, completed(parts.weights, written.config))) {
    tensors.push_back({tensor.name, tensor.value, stored_type(tensor.value, type)});
  }
  written.json["torch_dtype"] = torch_name(tensors);
  const bool reads_sources = parts.config.as<models::SourceConfig>() != nullptr;
  write_directory_tokenizer(path, reads_sources ? with_text_end(parts.tokenizer) : parts.tokenizer);
  // Transformers requires this entry.
  write_safetensors((std::filesystem::path(path) / "model.safetensors").string(), tensors, {{"format", "pt"}});
  AtomicFile config(config_path(path));
  config.write(written.json.dump(2) + "\n");
  config.commit();
}

}  // namespace heddle::formats
