// inspect evaluate: the loss of a model on a token file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <numbers>

#include "formats/heddle/load_model.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/training/bidirectional.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/denoise.hpp"
#include "libcore/training/masked.hpp"
#include "libcore/training/permute.hpp"
#include "libcore/training/translate.hpp"
#include "tools/cli/progress.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/training/pairs.hpp"

namespace heddle {

namespace {

constexpr Index own_memory = -1;

struct EvaluateOptions {
  bool json = false;
  std::string base;
  Index batch_size = 8, sequence_length = 0, memory = own_memory;
  data::NoiseOptions noise;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(base_field().essential(), self.base);
    visitor(Field("batch_size", "sequences to compute at once").range(1, 1 << 20).essential(), self.batch_size);
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
    visitor(Field("noise", "Noise, for sequence-to-sequence models that restore text"), self.noise);
  }
};

struct Score {
  Index tokens;  // predicted: by decoders all but the first, by encoders the masked ones, by models of any order some;
                 // by models of both directions those of both
  Index bytes;   // of text that they stand for, without special tokens; 0 for encoders
  double nats;   // in all
  std::vector<training::Metric> metrics = {};  // further ones

  double nats_per_token() const { return nats / static_cast<double>(tokens); }
  double perplexity() const { return std::exp(nats_per_token()); }
  // NaN without bytes.
  double bits_per_byte() const {
    return bytes > 0 ? nats / std::numbers::ln2 / static_cast<double>(bytes) : std::nan("");
  }
};

// Bytes of the text without those of its first token, which are those that it decodes to.
Index predicted_bytes(const formats::TokenFile& tokens, const text::Tokenizer& tokenizer) {
  TokenId first = 0;
  tokens.read(0, {&first, 1});
  if (tokenizer.is_special(first)) return tokens.text_bytes();
  return tokens.text_bytes() - static_cast<Index>(tokenizer.decode({&first, 1}).size());
}

// The tokens before it that each token attends to across windows.
Index memory_of(const models::Model& model, const EvaluateOptions& options) {
  const auto* const next = model.as<models::TokenLoss>();
  return options.memory != own_memory ? options.memory : next != nullptr ? next->memory() : 0;
}

// Throws UsageError for a memory that the model cannot have.
void check_memory(const models::Model& model, const EvaluateOptions& options, const std::string& model_path) {
  const auto* const next = model.as<models::TokenLoss>();
  check<UsageError>(
      options.memory == own_memory || options.memory == 0 || (next != nullptr && next->remembers()),
      "--memory: needs a model that predicts next tokens, whose positions are relative and whose attention can have "
      "a window; ",
      model_path, " reads each window for itself");
}

// Windows of `time` tokens.
Score score_of(const formats::LoadedModel& loaded, const std::string& model_path, const formats::TokenFile& tokens,
               Index time, const EvaluateOptions& options, const std::function<bool()>& stop) {
  const Index batch_size = options.batch_size;
  if (const auto* const next = loaded.model->as<models::TokenLoss>()) {
    const training::Evaluation result = training::evaluate(
        *next, tokens,
        {.time = time, .memory = memory_of(*loaded.model, options), .batch_size = batch_size, .stop = stop});
    return {result.tokens, predicted_bytes(tokens, loaded.tokenizer), result.nats};
  }
  if (const auto* const both = loaded.model->as<models::BidirectionalLoss>()) {
    const training::BothEvaluations result =
        training::evaluate(*both, tokens, {.time = time, .batch_size = batch_size, .stop = stop});
    return {result.forward.tokens + result.backward.tokens,
            0,
            result.forward.nats + result.backward.nats,
            {{"forward_perplexity", std::exp(result.forward.nats_per_token())},
             {"backward_perplexity", std::exp(result.backward.nats_per_token())}}};
  }
  if (const auto* const permuted = loaded.model->as<models::PermutationPredictor>()) {
    const data::MaskVocabulary vocabulary(loaded.tokenizer, tokens.name());
    const training::MaskedEvaluation result = training::evaluate(
        *permuted, training::evaluation_windows(*permuted, tokens, vocabulary, time), 0, batch_size, stop);
    return {result.tokens, 0, result.nats, {{"accuracy", result.accuracy()}}};
  }
  const auto& masked = models::require<models::MaskedPredictor>(*loaded.model, "inspect evaluate", model_path);
  const data::MaskVocabulary vocabulary(loaded.tokenizer, tokens.name());
  const training::MaskedEvaluation result =
      training::evaluate(masked, training::evaluation_windows(masked, tokens, vocabulary, time), 0, batch_size, stop);
  Score score{result.tokens, 0, result.nats, {{"accuracy", result.accuracy()}}};
  if (result.pairs > 0) score.metrics.push_back({"next_sentence_accuracy", result.pair_accuracy()});
  return score;
}

// The pairs that the model can read; others are left out, with a warning.
data::PairGroups readable_pairs(const models::SequenceToSequence& model, const data::PairSource& pairs,
                                const data::PairFrames& frames, Index batch_size, const cli::Arguments& arguments) {
  constexpr Index unlimited = std::numeric_limits<Index>::max();
  data::PairGroups groups = training::evaluation_groups(model, pairs, frames,
                                                        {.batch_size = batch_size,
                                                         .max_source = model.max_source_positions().value_or(unlimited),
                                                         .max_target = model.max_positions().value_or(unlimited)});
  if (groups.left_out() > 0) {
    arguments.warn(concatenate(pairs.name(), ": ", counted(groups.left_out(), "pair is", "pairs are"),
                               " longer than the model's positions, and left out"));
  }
  return groups;
}

// Over the tokens of the targets, with those that end them.
Score score_of(const models::SequenceToSequence& model, const data::PairGroups& groups, Index bytes,
               const cli::Arguments& arguments) {
  cli::Progress progress(arguments, "batches");
  double done = 0;
  const training::Evaluation result = training::evaluate(model, groups, 0, [&] {
    progress.update(done++, static_cast<double>(groups.groups_per_epoch()));
    return false;
  });
  return {result.tokens, bytes, result.nats};
}

Score score_of(const formats::LoadedModel& loaded, const formats::PairsFile& pairs, const EvaluateOptions& options,
               const cli::Arguments& arguments) {
  const auto& model =
      models::require<models::SequenceToSequence>(*loaded.model, "a pairs file", arguments.operand("MODEL"));
  pairs.check_made_with(loaded.of_sources(), loaded.tokenizer, arguments.operand("MODEL"));
  check<UsageError>(options.sequence_length == 0, "--sequence-length: pairs of texts are read whole; leave it out");
  check<UsageError>(!arguments.given("noise"), "--noise: is for token files; a pairs file has sources; leave it out");
  check_memory(*loaded.model, options, arguments.operand("MODEL"));
  const data::PairGroups groups = readable_pairs(
      model, pairs,
      training::pair_frames(model, loaded.tokenizer, loaded.source_tokenizer ? &*loaded.source_tokenizer : nullptr),
      options.batch_size, arguments);
  return score_of(model, groups, groups.left_out() > 0 ? 0 : pairs.tokens(formats::Side::target).text_bytes(),
                  arguments);
}

// Of a sequence-to-sequence model on text that it restores.
Score noisy_score_of(const formats::LoadedModel& loaded, const formats::TokenFile& tokens,
                     const EvaluateOptions& options, const cli::Arguments& arguments) {
  const auto& model = models::require<models::SequenceToSequence>(*loaded.model, "--noise", arguments.operand("MODEL"));
  check<UsageError>(!loaded.source_tokenizer, "--noise: needs one tokenizer, and the model's sources have another one");
  check<UsageError>(options.sequence_length == 0,
                    "--sequence-length: has no effect with --noise; leave one of them out");
  check_memory(*loaded.model, options, arguments.operand("MODEL"));
  const data::PairFrames frames = training::pair_frames(model, loaded.tokenizer, nullptr);
  const data::NoiseVocabulary vocabulary(loaded.tokenizer, options.noise.noise, arguments.operand("MODEL"));
  const data::NoisyPairs pairs = training::noisy_pairs(model, tokens, vocabulary, frames, options.noise);
  return score_of(model, readable_pairs(model, pairs, frames, options.batch_size, arguments), 0, arguments);
}

// The model's loss on a token file. Throws DataError for a file of another tokenizer, and NumericError when the loss is
// not finite.
Score score_of(const cli::Arguments& arguments, const EvaluateOptions& options) {
  const std::string model_path = arguments.operand("MODEL");
  const formats::LoadedModel loaded = formats::load_language_model(model_path, options.base);
  const std::string path = arguments.operand("TOKENS");
  const formats::Descriptor file = formats::Descriptor::open_for_reading(path);
  check<DataError>(formats::looks_like_hdf5(file), path, ": ", formats::guess_content(file),
                   "; encode text with the model's tokenizer: tokenize -t ", model_path, " -o tokens.h5 TEXT");
  if (is_pairs_file(path)) return score_of(loaded, formats::PairsFile(path), options, arguments);
  check<DataError>(loaded.model->as<models::SequenceToSequence>() == nullptr || arguments.given("noise"), model_path,
                   ": ", models::SequenceToSequence::what,
                   "; evaluate it on a pairs file, or with --noise on text that it restores");
  const formats::TokenFile tokens(path);
  tokens.check_made_with(loaded.tokenizer, model_path);
  if (arguments.given("noise")) return noisy_score_of(loaded, tokens, options, arguments);
  check<DataError>(tokens.size() >= 2, tokens.name(), ": has ", counted(tokens.size(), "token", "tokens"),
                   "; an evaluation needs at least two");

  check_memory(*loaded.model, options, model_path);
  cli::Progress progress(arguments, "tokens");
  const Index most = loaded.model->position_limit();
  check<UsageError>(options.sequence_length <= most, "--sequence-length ", options.sequence_length,
                    " is more than the ", most, " positions of ", model_path);
  const Index time = options.sequence_length > 0 ? options.sequence_length : loaded.model->training_length();
  const bool in_order = memory_of(*loaded.model, options) > 0;
  const Index batch_tokens = (in_order ? 1 : options.batch_size) * time;
  double done = 0;
  const auto show_progress = [&] {
    progress.update(std::min(done, static_cast<double>(tokens.size())), static_cast<double>(tokens.size()));
    done += static_cast<double>(batch_tokens);
    return false;
  };
  const Score score = score_of(loaded, model_path, tokens, time, options, show_progress);
  check<NumericError>(std::isfinite(score.nats), tokens.name(), ": the loss of ", model_path,
                      " on it is not finite; inspect verify finds weights that are not");
  return score;
}

void print(const Score& score) {
  const auto line = [](const std::string& name, double value) {
    std::cout << fmt::format("{:<15} {:.6g}\n", name, value);
  };
  std::cout << "tokens          " << grouped(score.tokens) << "\n";
  line("nats per token", score.nats_per_token());
  line("perplexity", score.perplexity());
  if (score.bytes > 0) line("bits per byte", score.bits_per_byte());
  for (const training::Metric& metric : score.metrics) {
    std::string name = metric.name;
    std::ranges::replace(name, '_', ' ');
    line(name, metric.value);
  }
}

formats::Json score_json(const Score& score) {
  formats::Json answer{
      {"tokens", score.tokens}, {"nats_per_token", score.nats_per_token()}, {"perplexity", score.perplexity()}};
  if (score.metrics.empty()) answer["bits_per_byte"] = score.bits_per_byte();
  for (const training::Metric& metric : score.metrics) answer[metric.name] = metric.value;
  return answer;
}

void evaluate(const cli::Arguments& arguments, const EvaluateOptions& options) {
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
      {.summary = "Computes the loss of a model on a token file.",
       .synopsis = {"MODEL TOKENS [--sequence-length N] [--json]", "ADAPTER TOKENS [--base MODEL] [--json]"},
       .operands = {{"MODEL", "a model, or the adapter of one", 1, 1},
                    {"TOKENS", "a token file made with the model's tokenizer, or a pairs file", 1, 1}}},
      heddle::evaluate);
}

}  // namespace heddle
