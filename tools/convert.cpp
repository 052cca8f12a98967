// convert: makes another model file of a model, with weights stored otherwise, and other files of tokenizers.
#include <array>
#include <cstdio>
#include <filesystem>

#include "heddle/cli/run.hpp"
#include "heddle/formats/foreign_vocabulary.hpp"
#include "heddle/formats/load_model.hpp"
#include "heddle/formats/tokenizer_file.hpp"
#include "heddle/formats/tokenizer_json.hpp"
#include "heddle/formats/weight_type.hpp"

using namespace heddle;

namespace {

struct ConvertOptions {
  std::string output;
  formats::WeightType weights = formats::WeightType::keep;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("output", "the file to write; for a tokenizer, NAME.json makes it Hugging Face's tokenizer.json")
                .letter('o')
                .takes("FILE"),
            self.output);
    visitor(Field("weights", "what matrices are stored as; keep leaves them as they are"), self.weights);
  }
};

const cli::About about{
    .name = "convert",
    .summary = "Makes other files of models and of tokenizers.",
    .synopsis = {"MODEL --weights f32|bf16|int8 -o FILE", "TOKENIZER -o tokenizer.json", "TOKENIZER -o FILE"},
    .operands = {{"MODEL", "model file, or a tokenizer as tokenize -t takes it", 1, 1}}};

void check_usage(const ConvertOptions& options, const std::string& input) {
  check<UsageError>(!options.output.empty(), "-o names the file to write");
  check<UsageError>(options.output != "-", "the file cannot go to standard output; -o names one");
  std::error_code absent;
  check<UsageError>(!std::filesystem::equivalent(input, options.output, absent), options.output,
                    ": is the file to convert; give the new one another name");
}

struct Converted {
  std::vector<formats::NamedTensor> weights;
  double largest_error = 0;  // of rounding, relative to the tensor
  std::string where;         // its tensor
};

Converted convert_weights(const models::Model& model, formats::WeightType type) {
  Converted result;
  for (const Parameter& parameter : model.parameters().all()) {
    result.weights.push_back({parameter.name, formats::convert(parameter.value(), type)});
    const double error = formats::rounding_error(parameter.value(), result.weights.back().value);
    check<DataError>(std::isfinite(error), parameter.name, ": has weights too large for ", to_text(type));
    if (error <= result.largest_error) continue;
    result.largest_error = error;
    result.where = parameter.name;
  }
  return result;
}

Index bytes_of(const std::vector<formats::NamedTensor>& weights) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : weights) {
    bytes += tensor.bytes();
    if (tensor.scales() != nullptr) bytes += static_cast<std::size_t>(tensor.shape()[0]) * sizeof(Real);
  }
  return static_cast<Index>(bytes);
}

std::string describe(const Converted& converted) {
  if (converted.where.empty()) return "nothing was rounded";
  std::array<char, 32> percent;
  std::snprintf(percent.data(), percent.size(), "%.3g", 100 * converted.largest_error);
  return concatenate("largest rounding error ", percent.data(), " % in ", converted.where);
}

bool makes_json(const ConvertOptions& options) {
  return std::filesystem::path(options.output).extension() == ".json";
}

bool is_tokenizer(const std::string& input) {
  return formats::find_foreign_vocabulary(input) != nullptr || std::filesystem::is_directory(input) ||
         formats::kind_of(input) == formats::FileKind::tokenizer;
}

void convert_tokenizer(const cli::Arguments& arguments, const ConvertOptions& options, const std::string& input) {
  check<UsageError>(!arguments.given("weights"), "--weights is for models, and makes model files only");
  const text::Tokenizer tokenizer = formats::load_tokenizer(input);
  if (makes_json(options)) {
    formats::write_tokenizer_json(options.output, tokenizer.model());
  } else {
    formats::Provenance provenance = formats::start_provenance(arguments.command_line());
    formats::add_tokenizer_input(provenance, input);
    formats::save_tokenizer(options.output, tokenizer.model(), provenance);
  }
  arguments.say(concatenate(options.output, ": ", to_text(tokenizer.kind()), " tokenizer with ",
                            grouped(tokenizer.vocab_size()), " pieces"));
}

void convert_model(const cli::Arguments& arguments, const ConvertOptions& options, const std::string& input) {
  const formats::ModelFile file(input);
  const formats::LoadedModel loaded = formats::load_model(file);
  formats::ModelWriter writer(options.output);
  // Damage and numbers that are not finite would be hidden by what follows.
  for (const std::string& problem : file.weights().verify()) throw DataError(problem + "; it cannot be converted");
  const Converted converted = convert_weights(*loaded.model, options.weights);
  writer.config(loaded.model->config());
  writer.tokenizer(file.tokenizer_model());
  writer.weights(converted.weights);
  if (file.has_history()) writer.history(file.history());
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "model", input);
  writer.commit(provenance);
  if (file.has_training()) {
    arguments.say(options.output + ": without the training state; training can go on from " + input + " only");
  }
  const Index before = bytes_of(formats::named_tensors(loaded.model->parameters()));
  arguments.say(concatenate(options.output, ": ", grouped(before), " bytes of weights became ",
                            grouped(bytes_of(converted.weights)), "; ", describe(converted)));
}

void convert(cli::Arguments& arguments) {
  const auto options = arguments.read<ConvertOptions>();
  const std::string input = arguments.operand("MODEL");
  check_usage(options, input);
  if (makes_json(options) || is_tokenizer(input)) return convert_tokenizer(arguments, options, input);
  convert_model(arguments, options, input);
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, convert);
}
