// inspect evaluate: the loss of a model on data like those that it was trained on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numbers>

#include "formats/heddle/graphs_file.hpp"
#include "formats/heddle/load_model.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/cli/answer_precision.hpp"
#include "tools/cli/kind_choice.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

constexpr Index own_memory = -1;

struct EvaluateOptions {
  bool json = false;
  std::string base;
  Index batch_size = 8, sequence_length = 0, memory = own_memory, stride = 0;
  PrecisionChoice precision = PrecisionChoice::f32;
  cli::KindChoice<training::ObjectiveSettings> objective;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(base_field().essential(), self.base);
    visitor(Field("objective", "what to predict; by default the first that fits the model").essential(),
            self.objective);
    visitor(Field("batch_size", "sequences to compute at once").range(1, 1 << 20).essential(), self.batch_size);
    visitor(cli::precision_field(), self.precision);
    visitor(Field("sequence_length", "tokens per window; auto means the length that the model was trained with")
                .range(1, 10000000)
                .word(0, "auto")
                .takes("N")
                .essential(),
            self.sequence_length);
    visitor(Field("memory",
                  "tokens before it, in earlier windows too, that each token attends to in each layer; auto means the "
                  "model's memory; none: those of its window alone")
                .range(1, 10000000)
                .word(own_memory, "auto")
                .word(0, "none")
                .takes("N")
                .essential(),
            self.memory);
    visitor(Field("stride",
                  "tokens from the start of a window to the start of the next; a window predicts only the tokens that "
                  "earlier windows have not; auto means windows without overlap")
                .range(1, 10000000)
                .word(0, "auto")
                .takes("N")
                .essential(),
            self.stride);
  }
};

struct Score {
  training::ObjectiveEvaluation result;
  std::string unit;  // "token": what is predicted
  Index bytes;       // bytes of the text, without special tokens; 0 if the predicted tokens are not all of it

  double perplexity() const { return std::exp(result.nats_per_target()); }
  // NaN without bytes.
  double bits_per_byte() const {
    return bytes > 0 ? result.nats / std::numbers::ln2 / static_cast<double>(bytes) : std::nan("");
  }
};

// Objective that the user requests, or the default for the model and the data.
training::ObjectiveChoice objective_of(const models::Model& model, const training::TrainingData& given,
                                       const EvaluateOptions& options, const std::string& model_path) {
  using training::DataKind;
  const DataKind data = *given.kind();
  // A text is evaluated by what the model is for, not by what could be made of it.
  const auto wanted = data == DataKind::pairs ? std::optional(data) : std::nullopt;
  const training::ObjectiveChoice usual = training::objective_for(model, wanted);
  const training::ObjectiveChoice objective = options.objective.resolved(usual, "objective");
  objective.check();
  training::check_suits(objective, model);
  check<DataError>(!options.objective.name.empty() || training::data_of(usual, model) == data, model_path,
                   ": its objective, ", usual.name(), ", reads ",
                   data == DataKind::text
                       ? "pairs; evaluate it on a pairs file, or with --objective denoise on text that "
                         "it restores"
                       : "text; evaluate it on a token file");
  check_has_data(objective, model, given);
  return objective;
}

// Model and data of an evaluation.
struct Subject {
  const models::Model& model;
  training::TrainingData data;
  const text::Tokenizer* tokenizer = nullptr;
  const text::Tokenizer* source_tokenizer = nullptr;
};

// Leaves the bytes of the text unset.
Score score_of(const Subject& subject, const EvaluateOptions& options, const cli::Arguments& arguments) {
  const std::string model_path = arguments.operand("MODEL"), path = arguments.operand("DATA");
  const training::ObjectiveChoice objective = objective_of(subject.model, subject.data, options, model_path);
  cli::Progress progress(arguments, "batches");
  const training::ObjectiveEvaluation result = objective->evaluate(
      {.model = subject.model,
       .model_name = model_path,
       .data = subject.data,
       .tokenizer = subject.tokenizer,
       .source_tokenizer = subject.source_tokenizer,
       .sequence_length = options.sequence_length,
       .memory = options.memory == own_memory ? std::nullopt : std::optional(options.memory),
       .stride = options.stride,
       .batch_size = options.batch_size,
       .progress = [&](Index done, Index all) { progress.update(static_cast<double>(done), static_cast<double>(all)); },
       .group = parallel::dividing()});
  if (result.left_out > 0) {
    arguments.warn(concatenate(path, ": ", counted(result.left_out, "pair is", "pairs are"),
                               " longer than the model's positions, and left out"));
  }
  check<NumericError>(std::isfinite(result.nats), path, ": the loss of ", model_path,
                      " on it is not finite; inspect verify finds weights that are not");
  return {result, training::description_of(*subject.data.kind()).unit, 0};
}

Score score_of_graphs(const std::string& path, const EvaluateOptions& options, const cli::Arguments& arguments) {
  const std::string model_path = arguments.operand("MODEL");
  refuse({"base", "sequence_length", "memory", "stride"}, arguments, ": is for texts, and " + path + " holds graphs");
  const formats::ModelFile file(model_path);
  const auto config = file.config<models::ModelConfig>();
  check<DataError>(config.as<models::GraphConfig>() != nullptr, model_path, ": reads ", models::what_it_reads(config),
                   ", and ", path, " holds graphs");
  const std::unique_ptr<const models::Model> model = formats::load_weights(file);
  const formats::GraphsFile graphs(path);
  return score_of({*model, {.graphs = &graphs}}, options, arguments);
}

Score score_of_texts(const std::string& path, const EvaluateOptions& options, const cli::Arguments& arguments) {
  const std::string model_path = arguments.operand("MODEL");
  const formats::LoadedModel loaded = formats::load_language_model(model_path, options.base);
  const formats::Descriptor file = formats::Descriptor::open_for_reading(path);
  check<DataError>(formats::looks_like_hdf5(file), path, ": ", formats::guess_content(file),
                   "; encode text with the model's tokenizer: tokenize -t ", model_path, " -o tokens.h5 TEXT");
  const Index most = loaded.model->tokens().position_limit();
  check<UsageError>(options.sequence_length <= most, "--sequence-length ", options.sequence_length,
                    " is more than the ", most, " positions of ", model_path);
  Subject subject{*loaded.model, {}, &loaded.tokenizer, loaded.source_tokenizer ? &*loaded.source_tokenizer : nullptr};
  if (formats::is_file_of(path, formats::FileKind::pairs)) {
    const formats::PairsFile pairs(path);
    pairs.check_made_with(loaded.of_sources(), loaded.tokenizer, model_path);
    subject.data.pairs = &pairs;
    Score score = score_of(subject, options, arguments);
    if (score.result.covers_text) score.bytes = pairs.tokens(formats::Side::target).text_bytes();
    return score;
  }
  const formats::TokenFile tokens(path);
  tokens.check_made_with(loaded.tokenizer, model_path);
  check<DataError>(tokens.size() >= 2, tokens.name(), ": has ", counted(tokens.size(), "token", "tokens"),
                   "; an evaluation needs at least two");
  subject.data.text = &tokens;
  Score score = score_of(subject, options, arguments);
  if (score.result.covers_text) score.bytes = tokens.text_bytes();
  return score;
}

// The model's loss on a file of tokens, pairs or graphs. Throws DataError for a file of another tokenizer, and
// NumericError when the loss is not finite.
Score score_of(const cli::Arguments& arguments, const EvaluateOptions& options) {
  const std::string path = arguments.operand("DATA");
  const bool are_graphs = formats::is_file_of(path, formats::FileKind::graphs);
  return are_graphs ? score_of_graphs(path, options, arguments) : score_of_texts(path, options, arguments);
}

void print(const Score& score) {
  const auto line = [](const std::string& name, double value) {
    std::cout << fmt::format("{:<15} {:#.6g}\n", name, value);
  };
  std::cout << fmt::format("{:<15} {}\n", score.unit + "s", grouped(score.result.targets));
  line("nats per " + score.unit, score.result.nats_per_target());
  line("perplexity", score.perplexity());
  if (score.bytes > 0) line("bits per byte", score.bits_per_byte());
  for (const training::Metric& metric : score.result.metrics) {
    std::string name = metric.name;
    std::ranges::replace(name, '_', ' ');
    line(name, metric.value);
  }
}

formats::Json score_json(const Score& score) {
  formats::Json answer{{score.unit + "s", score.result.targets},
                       {"nats_per_" + score.unit, score.result.nats_per_target()},
                       {"perplexity", score.perplexity()}};
  if (score.result.covers_text || score.result.metrics.empty()) answer["bits_per_byte"] = score.bits_per_byte();
  for (const training::Metric& metric : score.result.metrics) answer[metric.name] = metric.value;
  return answer;
}

void evaluate(const cli::Arguments& arguments, const EvaluateOptions& options) {
  const cli::AnswerPrecision precision(options.precision, arguments);
  const Score score = score_of(arguments, options);
  if (options.json) {
    std::cout << dump(score_json(score));
  } else {
    print(score);
  }
}

}  // namespace

cli::Verb verbs::evaluate() {
  return cli::make_verb<EvaluateOptions>(
      {.summary = "Computes the loss of a model on a file of tokens, pairs or graphs.",
       .synopsis = {"MODEL DATA [--sequence-length N] [--json]", "ADAPTER DATA [--base MODEL] [--json]"},
       .operands = {{"MODEL", "a model, or the adapter of one", 1, 1},
                    {"DATA", "a token or pairs file made with the model's tokenizer, or a graphs file", 1, 1}},
       .has_ranks = true},
      heddle::evaluate);
}

}  // namespace heddle
