#include "tools/inspect/files/summary.hpp"

#include <filesystem>
#include <string_view>

#include "formats/heddle/load_model.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/tensor/context.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

constexpr Index byte_vocabulary = 256;

std::string kind_text(formats::FileKind kind) {
  return kind == formats::FileKind::tokens ? "token" : to_text(kind);
}

// Published parameter counts do not include the head that predicts masked tokens, nor is that of masked nodes counted.
void count_parameters(Summary& summary) {
  Index all = 0, head = 0;
  for (const formats::TensorInfo& tensor : *summary.weights) {
    all += tensor.shape.size();
    if (models::is_of_head(tensor.name)) head += tensor.shape.size();
  }
  const models::Architecture& about = models::architecture(summary.config->arch());
  const bool has_head =
      about.plays(models::MaskedPredictor::ability) || (about.plays(models::MaskedNodePredictor::ability) && head > 0);
  summary.parameters = has_head ? all - head : all;
  if (has_head) summary.head_parameters = head;
}

Summary start_summary(const formats::InputFile& file) {
  const formats::FileHeader& header = file.header();
  return {.name = file.path(),
          .description = concatenate(kind_text(header.kind), " file, ", grouped(file.descriptor().size()),
                                     " bytes, made by ", header.created_by, " at ", header.created_at),
          .kind = to_text(header.kind),
          .provenance = file.provenance()};
}

Summary summarize_model(const formats::ModelFile& file) {
  Summary summary = start_summary(file.file());
  summary.config = file.config<models::ModelConfig>();
  summary.objective = objective_of(file);
  summary.weights = file.weights().tensors();
  count_parameters(summary);
  if (summary.config->reads_tokens()) summary.tokenizer = file.tokenizer_model();
  if (formats::has_source_tokenizer(file.file())) {
    summary.source_tokenizer = formats::read_tokenizer_model(file.file(), formats::Side::source);
  }
  if (file.has_training()) summary.description += ", a checkpoint of unfinished training";
  if (file.has_history()) summary.history = file.history();
  if (file.has_part("adapters")) summary.adapters = formats::adapters_of(file);
  if (!file.has_part("task")) return summary;
  summary.task = formats::task_of(file);
  summary.description += ", fine-tuned for the task " + to_text(summary.task->task);
  if (summary.task->has_labels()) summary.description += " (" + join(summary.task->labels) + ")";
  return summary;
}

TokenCounts counts_of(const formats::TokenColumns& tokens) {
  return {tokens.size(), tokens.documents(), tokens.vocab_size(), tokens.text_bytes()};
}

Summary summarize_tokens(const formats::TokenFile& file) {
  Summary summary = start_summary(file.file());
  summary.tokens = counts_of(file.tokens());
  summary.tokenizer = file.tokenizer_model();
  return summary;
}

Summary summarize_pairs(const formats::PairsFile& file) {
  Summary summary = start_summary(file.file());
  summary.pairs = {file.size(), counts_of(file.tokens(formats::Side::source)),
                   counts_of(file.tokens(formats::Side::target))};
  summary.tokenizer = file.tokenizer_model(formats::Side::target);
  if (file.has_source_tokenizer()) summary.source_tokenizer = file.tokenizer_model(formats::Side::source);
  return summary;
}

Summary summarize_all(const std::string& path) {
  if (const formats::ForeignVocabulary* format = formats::find_foreign_vocabulary(path)) {
    return {
        .name = path, .description = std::string(format->name), .kind = "tokenizer", .tokenizer = format->read(path)};
  }
  switch (formats::kind_of(path)) {
    case formats::FileKind::model:
      return summarize_model(formats::ModelFile(path));
    case formats::FileKind::adapter:
      return summarize_model(formats::ModelFile(path, formats::FileKind::adapter));
    case formats::FileKind::tokens:
      return summarize_tokens(formats::TokenFile(path));
    case formats::FileKind::pairs:
      return summarize_pairs(formats::PairsFile(path));
    case formats::FileKind::graphs: {
      const formats::GraphsFile file(path);
      Summary summary = start_summary(file.file());
      summary.graphs = graph_statistics(file);
      return summary;
    }
    case formats::FileKind::tokenizer: {
      const formats::InputFile file(path);
      Summary summary = start_summary(file);
      summary.tokenizer = formats::read_tokenizer_model(file);
      return summary;
    }
    case formats::FileKind::ensemble: {
      Summary summary = start_summary(formats::InputFile(path));
      summary.ensemble = formats::read_ensemble(path).members;
      return summary;
    }
    case formats::FileKind::tensors:
      return start_summary(formats::InputFile(path));
  }
  throw DataError(path + ": is of a kind that this version of inspect does not support");
}

// "an ensemble file, ..."
std::string with_article(const std::string& description) {
  return (std::string_view("aeiou").find(description.front()) == std::string_view::npos ? "a " : "an ") + description;
}

template <class Part>
void select(const Summary& summary, std::optional<Part>& part, bool wanted, const char* name) {
  check<DataError>(!wanted || part, summary.name, ": has no ", name, "; it is ", with_article(summary.description));
  if (!wanted) part.reset();
}

Summary selected(Summary summary, const Parts& parts) {
  if (!parts.any()) return summary;
  summary.graphs.reset();
  select(summary, summary.config, parts.config, "configuration");
  if (!parts.config) {
    summary.objective.reset();
    summary.task.reset();
    summary.adapters.reset();
  }
  select(summary, summary.weights, parts.weights, "weights");
  if (!parts.tokens) {
    summary.tokens.reset();
    summary.pairs.reset();
  } else if (!summary.tokens && !summary.pairs) {
    check<DataError>(summary.tokenizer.has_value(), summary.name, ": has no tokens; it is ",
                     with_article(summary.description));
    summary.pieces = summary.tokenizer->pieces;
  }
  select(summary, summary.tokenizer, parts.tokenizer, "tokenizer");
  if (!parts.tokenizer) summary.source_tokenizer.reset();
  select(summary, summary.history, parts.history, "history");
  select(summary, summary.provenance, parts.provenance, "provenance");
  summary.description.clear();
  return summary;
}

}  // namespace

Summary summarize_file(const std::string& path, const Parts& parts, Index most_frequent) {
  Summary summary = selected(summarize_all(path), parts);
  if (!parts.tokens) return summary;
  if (summary.tokens) {
    const formats::TokenFile file(path);
    summary.tokens->statistics = token_statistics(file.tokens(), file.tokenizer_model(), most_frequent);
  }
  if (summary.pairs) {
    const formats::PairsFile file(path);
    for (const formats::Side side : {formats::Side::source, formats::Side::target}) {
      TokenCounts& counts = side == formats::Side::source ? summary.pairs->source : summary.pairs->target;
      counts.statistics = token_statistics(file.tokens(side), file.tokenizer_model(side), most_frequent);
    }
  }
  return summary;
}

Summary summarize_preset(const std::string& name, const Parts& parts) {
  models::ModelConfig config = models::preset(name);
  std::string description = "built-in configuration";
  if (config.tokens().vocab_size == 0) {
    config.tokens().vocab_size = byte_vocabulary;
    description += ", here with a vocabulary of " + grouped(byte_vocabulary);
  }
  Summary summary{
      .name = name, .description = description, .kind = "model", .config = config, .weights = weights_of(config)};
  count_parameters(summary);
  return selected(std::move(summary), parts);
}

namespace {

std::vector<formats::TensorInfo> infos_of(const Parameters& parameters) {
  std::vector<formats::TensorInfo> weights;
  for (const formats::NamedTensor& tensor : formats::named_tensors(parameters)) {
    weights.push_back({tensor.name, tensor.value.shape(), DType::real, 0});
  }
  return weights;
}

}  // namespace

std::vector<formats::TensorInfo> weights_of(const models::ModelConfig& config) {
  return infos_of(models::outline_of(config)->parameters());
}

std::vector<formats::TensorInfo> weights_of(const models::ModelConfig& config, const models::TaskConfig& task) {
  const Simulation simulation;
  return infos_of(models::TaskModel(models::make_model(config, ParameterSource::unset()), task).parameters());
}

}  // namespace heddle
