#include "tools/convert/model_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "formats/files/atomic_directory.hpp"
#include "formats/gguf/gguf_model.hpp"
#include "formats/heddle/model_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/nn/parts.hpp"
#include "tools/convert/check_written.hpp"
#include "tools/convert/model_source.hpp"
#include "tools/convert/rounding.hpp"

namespace heddle {

namespace {

using formats::WeightType;

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Embeddings and what predicts tokens or answers, often the same table, keep 8 bits where other matrices have 4.
WeightType type_of(const std::string& name, WeightType type) {
  namespace parts = nn::parts;
  if (type != WeightType::q4) return type;
  const std::string_view part = parts::of_parameter(name);
  const std::initializer_list<std::string_view> fine = {parts::token_embeddings, parts::positions, parts::segments,
                                                        parts::readout, parts::output};
  return name.starts_with("task/") || std::ranges::find(fine, part) != fine.end() ? WeightType::q8 : type;
}

std::span<const Real> found_in(const Importance& importance, const std::string& name) {
  const auto found = importance.find(name);
  return found == importance.end() ? std::span<const Real>() : std::span<const Real>(found->second);
}

struct Converted {
  std::vector<formats::NamedTensor> weights;
  double largest_error = 0;  // rounding error, relative to the tensor
  std::string where;         // its tensor
};

Converted convert_weights(const std::vector<formats::NamedTensor>& weights, WeightType type,
                          const Importance& importance) {
  Converted result;
  for (const auto& [name, tensor] : weights) {
    result.weights.push_back({name, formats::convert(tensor, type_of(name, type), found_in(importance, name))});
    const double error = formats::rounding_error(tensor, result.weights.back().value);
    check<DataError>(std::isfinite(error), name, ": has weights too large for ", to_text(type));
    if (error <= result.largest_error) continue;
    result.largest_error = error;
    result.where = name;
  }
  return result;
}

Index bytes_of(const std::vector<formats::NamedTensor>& weights, WeightType type) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : weights) {
    bytes += type == WeightType::f16 && tensor.rank() == 2 ? tensor.bytes() / 2 : tensor.bytes();
    if (tensor.scales() != nullptr) bytes += static_cast<std::size_t>(tensor.shape()[0]) * sizeof(Real);
  }
  return static_cast<Index>(bytes);
}

std::string describe(const Converted& converted) {
  if (converted.where.empty()) return "nothing was rounded";
  return fmt::format("largest rounding error {:.3g} % in {}", 100 * converted.largest_error, converted.where);
}

// Describes the loss on the text before and after.
std::string describe(const LossChange& change, const std::string& text) {
  return fmt::format(
      "{}: {:.5g} nats per token became {:.5g} ({:+.2f} %), and {:.2f} % of the most probable tokens changed", text,
      change.before, change.after, 100 * (change.after / change.before - 1),
      100 * static_cast<double>(change.changed) / static_cast<double>(change.tokens));
}

// The type of the written weights: directories hold plain numbers only.
WeightType type_for(const ModelConversion& conversion, const formats::ModelParts& parts) {
  const bool to_gguf = names_gguf(conversion.output);
  const auto is_held = [&](const formats::NamedTensor& tensor) {
    const DType dtype = tensor.value.dtype();
    return is_plain(dtype) || (to_gguf && dtype != DType::int8);
  };
  const bool is_heddle_file = !to_gguf && !names_directory(conversion.output);
  if (conversion.weights != WeightType::keep || is_heddle_file) return conversion.weights;
  return std::ranges::all_of(parts.weights, is_held) ? WeightType::keep : WeightType::f32;
}

struct Job {
  const ModelSource& source;
  const Converted& converted;
  WeightType type;
  bool checks;  // whether the written model is compared with the original
};

// "; logits differ by …" if they were compared.
std::string compare(const Job& job, const std::string& path, const std::string& name) {
  const double difference =
      check_written(job.source.parts, job.converted.weights, read_model_source(path).parts, job.type, name);
  return concatenate("; read back, the logits for a test text differ by ", fmt::format("{:.3g}", difference),
                     " of their norm");
}

std::string write_directory(const Job& job, const std::string& path) {
  formats::AtomicDirectory directory(path);
  formats::write_model_directory(
      directory.temporary(),
      {job.source.parts.config, job.source.parts.tokenizer, job.converted.weights, job.source.parts.source_tokenizer},
      job.type);
  const std::string report = compare(job, directory.temporary(), path);
  directory.commit();
  return report;
}

std::string write_gguf(const Job& job, const std::string& path) {
  std::string report;
  formats::write_gguf_model(path, {job.source.parts.config, job.source.parts.tokenizer, job.converted.weights},
                            job.type, [&](const std::string& temporary) { report = compare(job, temporary, path); });
  return report;
}

std::string write_file(const Job& job, const std::string& path, const formats::Provenance& provenance) {
  formats::ModelWriter writer(path);
  writer.config(job.source.parts.config);
  writer.tokenizer(job.source.parts.tokenizer);
  if (job.source.parts.source_tokenizer) writer.source_tokenizer(*job.source.parts.source_tokenizer);
  if (job.source.task) writer.part("task", *job.source.task);
  writer.weights(job.converted.weights);
  if (job.source.history.rows() > 0) writer.history(job.source.history);
  std::string report;
  const auto examine = [&](const std::string& temporary) { report = compare(job, temporary, path); };
  writer.commit(provenance, job.checks ? formats::Examine(examine) : formats::Examine());
  return report;
}

formats::Provenance provenance_of(const ModelSource& source, const ModelConversion& conversion) {
  formats::Provenance provenance = formats::start_provenance(conversion.command_line);
  for (const std::string& file : source.files) formats::add_input(provenance, "model", file);
  if (!conversion.calibrate.empty()) formats::add_input(provenance, "calibration", conversion.calibrate);
  if (is_directory(conversion.inputs.front())) formats::add_tokenizer_input(provenance, conversion.inputs.front());
  return provenance;
}

}  // namespace

bool names_directory(const std::string& path) {
  return path.ends_with('/') || is_directory(path);
}

bool names_gguf(const std::string& path) {
  return path.ends_with(".gguf");
}

std::vector<std::string> convert_model(const ModelConversion& conversion) {
  const auto& [inputs, output, weights, command_line, calibrate, loss_on] = conversion;
  const ModelSource source = inputs.size() > 1 ? average_models(inputs) : read_model_source(inputs.front());
  const bool to_directory = names_directory(output), to_gguf = names_gguf(output);
  if (source.task && (to_directory || to_gguf)) {
    throw DataError(concatenate(inputs.front(), ": was fine-tuned for the task ", to_text(source.task->task),
                                ", whose head cannot be stored in a ", to_gguf ? "GGUF file" : "directory",
                                "; name a model file with -o"));
  }
  const WeightType type = type_for(conversion, source.parts);
  Importance importance;
  if (!calibrate.empty()) importance = importance_of(source.parts, {calibrate, inputs.front()});
  const Converted converted = convert_weights(source.parts.weights, type, importance);
  std::vector<std::string> lines;
  if (!loss_on.empty()) {
    lines.push_back(describe(loss_change(source.parts, converted.weights, {loss_on, inputs.front()}), loss_on));
  }
  const Job job{source, converted, type, is_directory(inputs.front()) || formats::is_gguf(inputs.front())};
  const std::string report = to_directory ? write_directory(job, output)
                             : to_gguf    ? write_gguf(job, output)
                                          : write_file(job, output, provenance_of(source, conversion));
  if (source.has_training) {
    lines.push_back(output + ": without the training state; training can be resumed only from " + inputs.front());
  }
  lines.push_back(concatenate(output, ": ", grouped(bytes_of(source.parts.weights, WeightType::keep)),
                              " bytes of weights became ", grouped(bytes_of(converted.weights, type)), "; ",
                              describe(converted), report));
  return lines;
}

}  // namespace heddle
