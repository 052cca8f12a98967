// convert: converts models and tokenizers between formats: weights with other dtypes, Hugging Face's directories and
// tokenizer.json, from and to; makes graphs files; splits labelled files and graphs.
#include <filesystem>

#include "formats/gguf/gguf_model.hpp"
#include "formats/heddle/task_file.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "formats/heddle/weight_type.hpp"
#include "formats/huggingface/foreign_model.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/peft_adapter.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/convert/graphs.hpp"
#include "tools/convert/model_conversion.hpp"
#include "tools/convert/peft.hpp"
#include "tools/convert/split.hpp"
#include "tools/convert/tags.hpp"

using namespace heddle;
using formats::WeightType;

namespace {

struct ConvertOptions {
  std::string output, base, calibrate, loss_on, tags;
  bool average = false, merge = false;
  WeightType dtype = WeightType::keep;
  GraphOptions graphs;
  SplitOptions split;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field(
            "output",
            "file to write; DIR/ writes a model as a Hugging Face directory, NAME.gguf as llama.cpp's file; NAME.json "
            "writes a tokenizer as tokenizer.json; with --split the directory for the parts")
            .letter('o')
            .not_empty()
            .takes("FILE")
            .essential(),
        self.output);
    visitor(Field("average", "average the weights of several models of the same shape and task").essential(),
            self.average);
    visitor(Field("merge", "merge an adapter with its base model into one model file").essential(), self.merge);
    visitor(Field("base",
                  "base model of an adapter: with --merge if it is not in the adapter's directory, and of an adapter "
                  "of PEFT's")
                .not_empty()
                .takes("MODEL")
                .essential(),
            self.base);
    visitor(
        Field("dtype", "data type of the stored matrices; keep does not change them").formerly("weights").essential(),
        self.dtype);
    visitor(Field("calibrate", "token file on which the importance of each weight is measured; for --dtype q4")
                .not_empty()
                .takes("TOKENS"),
            self.calibrate);
    visitor(Field("loss_on", "token file on which the loss before and after the conversion is reported")
                .not_empty()
                .takes("TOKENS"),
            self.loss_on);
    visitor(Field("tags", "write a file of tagged words with the tags of this scheme, all else as it is")
                .one_of(names_of<metrics::TagScheme>())
                .takes("SCHEME"),
            self.tags);
    visitor(Field("graphs_and_molecules", "Graphs and molecules"), self.graphs);
    SplitOptions::visit(self.split, visitor);
  }
};

const cli::About about{
    .name = "convert",
    .summary = "Converts models and tokenizers between formats, makes files of graphs, and splits labelled data.",
    .synopsis = {"MODEL|DIR [--dtype f32|bf16|int8|q8|q4] -o FILE", "MODEL [--dtype f32|f16|bf16] -o DIR/|NAME.gguf",
                 "MODEL MODEL... --average -o FILE", "ADAPTER --merge [--base MODEL] -o FILE",
                 "PEFT --base MODEL -o FILE", "TOKENIZER|TU -o FILE|tokenizer.json",
                 "--nodes TABLE --edges TABLE -o FILE", "TABLE --smiles COLUMN --label-column COLUMN -o FILE",
                 "LABELLED|GRAPHS --split TRAIN,VALID,TEST -o DIR/", "LABELLED --tags SCHEME -o FILE"},
    .operands = {
        {"MODEL",
         "model file, directory with config.json, GGUF file, PEFT's adapter (a directory), tokenizer as tokenize -t "
         "takes it, TU Dortmund's folder of graphs, or table of molecules; with --split a labelled file or graphs",
         0, cli::any_number}}};

bool makes_json(const ConvertOptions& options) {
  return std::filesystem::path(options.output).extension() == ".json";
}

void check_usage(const ConvertOptions& options, const std::vector<std::string>& inputs,
                 const cli::Arguments& arguments) {
  check<UsageError>(options.average == (inputs.size() > 1) || arguments.given("split") || arguments.given("tags"),
                    options.average ? "--average takes at least two models"
                                    : "one file at a time; --average makes "
                                      "one model of several");
  check<UsageError>(!options.average || !(options.merge || makes_json(options)),
                    "--average makes a model of models, without --merge, and no .json");
  check<UsageError>(options.calibrate.empty() || options.dtype == WeightType::q4, "--calibrate is for --dtype q4");
  for (const char* const option : {"split", "tags"}) {
    if (!arguments.given(option)) continue;
    check<UsageError>(inputs.size() == 1, "--", option, " takes one labelled file");
    refuse({"average", "merge", "base", "dtype", "loss_on"}, arguments,
           concatenate(": is for models; --", option, " is for labelled files"));
    check<UsageError>(!arguments.given("split") || !arguments.given("tags"),
                      "--split and --tags are two commands; give one of them");
    if (arguments.given("tags")) refuse({"header"}, arguments, ": is for --split; --tags reads tagged words");
    return;
  }
  const bool directory = names_directory(options.output), gguf = names_gguf(options.output);
  check<UsageError>(directory || gguf || options.dtype != WeightType::f16, "--dtype f16 is for directories and GGUF ",
                    "files; model files hold f32, bf16, int8, q8 or q4");
  check<UsageError>(!gguf || options.dtype != WeightType::int8, "--dtype int8 is for model files; GGUF files hold ",
                    "f32, f16, bf16, q8 or q4");
  const bool is_plain_dtype = options.dtype < WeightType::int8;
  check<UsageError>(!directory || is_plain_dtype, "--dtype ", to_text(options.dtype),
                    " is for model files; directories hold f32, f16 or bf16");
}

void merge_adapter(const cli::Arguments& arguments, const ConvertOptions& options, const std::string& input) {
  refuse({"loss_on"}, arguments, ": is for models without adapters");
  check<UsageError>(options.dtype == WeightType::keep, "--merge makes a model file; give it to convert --dtype");
  const formats::ModelFile adapter(input, formats::FileKind::adapter);
  const formats::LoadedTask loaded = formats::load_to_merge(input, options.base);
  check<DataError>(loaded.tokenizer.has_value(), input, ": adapts a model of graphs, which --merge is not for; ",
                   "classify and inspect attention read it beside its base");
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "adapter", input);
  formats::SavedTask saved{*loaded.model, &loaded.tokenizer->model(), adapter.history(), provenance};
  if (loaded.source_tokenizer) saved.source_tokenizer = &loaded.source_tokenizer->model();
  formats::save_merged(options.output, saved, adapter.part<LowRankOptions>("adapters"));
  arguments.say(options.output + ": adapter and base merged into one model");
}

// A model's directory holds a tokenizer too, but is not a tokenizer even if its config.json is missing.
bool is_tokenizer(const std::string& input) {
  if (formats::is_model_directory(input) || formats::is_gguf(input)) return false;
  check<DataError>(!formats::has_tensors(input), input, ": has tensors, but no config.json to describe the model");
  return formats::find_foreign_vocabulary(input) != nullptr ||
         (!std::filesystem::is_directory(input) && formats::kind_of(input) == formats::FileKind::tokenizer);
}

bool is_adapter(const std::string& input) {
  return !std::filesystem::is_directory(input) && !formats::is_gguf(input) &&
         formats::kind_of(input) == formats::FileKind::adapter;
}

void convert_tokenizer(const cli::Arguments& arguments, const ConvertOptions& options, const std::string& input) {
  refuse({"loss_on"}, arguments, ": is for models");
  check<UsageError>(!arguments.given("dtype"), "--dtype is for models, and makes model files only");
  const text::Tokenizer tokenizer = cli::load_tokenizer(input, arguments);
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

void check_output(const ConvertOptions& options, const std::vector<std::string>& inputs,
                  const cli::Arguments& arguments) {
  check<UsageError>(!options.output.empty(), "-o FILE is missing: the file to write");
  check<UsageError>(options.output != "-", "the result cannot go to standard output; name a file with -o");
  check<UsageError>(!inputs.empty() || !options.graphs.nodes.empty(), "MODEL is missing: what to convert");
  cli::protect_inputs({options.base, options.graphs.nodes, options.graphs.edges, options.graphs.graphs,
                       options.graphs.pairs, options.calibrate, options.loss_on},
                      {options.output}, arguments);
}

void convert(cli::Arguments& arguments) {
  const auto options = arguments.read<ConvertOptions>();
  const std::vector<std::string>& inputs = arguments.operands("MODEL");
  check_output(options, inputs, arguments);
  if (is_about_graphs(options.graphs, inputs)) {
    refuse({"tags"}, arguments, ": is for tagged words");
    return convert_graphs(inputs, options.output, options.graphs, options.split, arguments);
  }
  const std::string& input = inputs.front();
  check_usage(options, inputs, arguments);
  refuse({"hide_edges"}, arguments, ": is for graphs");
  if (arguments.given("split")) {
    return split_labelled(input, options.output, options.split, arguments);
  }
  if (arguments.given("tags")) {
    return convert_tags(input, options.output, from_text<metrics::TagScheme>(options.tags), options.split.input,
                        arguments);
  }
  refuse({"format", "text_column", "label_column", "header", "bad_records"}, arguments, ": is for --split and --tags");
  if (!options.average && formats::is_peft_directory(input)) {
    refuse({"merge", "dtype", "loss_on"}, arguments,
           ": is for heddle's files; convert the adapter of PEFT's to one first");
    cli::report_unused_fields(input, arguments);
    return convert_peft(input, options.base, options.output, arguments);
  }
  if (options.merge) return merge_adapter(arguments, options, input);
  refuse({"base"}, arguments, " has no effect without --merge, except for adapters of PEFT");
  const bool one_tokenizer = !options.average && is_tokenizer(input);
  if (makes_json(options) || one_tokenizer) return convert_tokenizer(arguments, options, input);
  for (const std::string& each : inputs) {
    check<UsageError>(!is_adapter(each), each, ": is an adapter; merge it with its base by --merge");
  }
  for (const std::string& each : inputs) cli::report_unused_fields(each, arguments);
  const ModelConversion conversion{
      inputs, options.output, options.dtype, arguments.command_line(), options.calibrate, options.loss_on};
  for (const std::string& line : convert_model(conversion)) arguments.say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, convert);
}
