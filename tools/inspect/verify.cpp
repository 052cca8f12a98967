#include "tools/inspect/verify.hpp"

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>

#include "heddle/base/strings.hpp"
#include "heddle/cli/progress.hpp"
#include "heddle/formats/heddle/embedding_file.hpp"
#include "heddle/formats/heddle/problems.hpp"
#include "heddle/formats/heddle/task_file.hpp"
#include "heddle/formats/heddle/token_file.hpp"
#include "heddle/formats/huggingface/foreign_vocabulary.hpp"
#include "heddle/models/decoder.hpp"
#include "heddle/models/encoder.hpp"
#include "heddle/training/causal.hpp"
#include "heddle/training/masked.hpp"
#include "tools/inspect/summary.hpp"

namespace heddle {

namespace {

// Whether the weights are those of the configuration, by names and shapes.
void check_shapes(const formats::ModelFile& file, formats::Problems& problems) {
  const std::string where = file.file().path() + ": ";
  std::map<std::string, Shape> wanted;
  const auto config = file.config<models::ModelConfig>();
  for (const auto& tensor :
       file.has_part("task") ? weights_of(config, file.part<models::TaskConfig>("task")) : weights_of(config)) {
    wanted.emplace(tensor.name, tensor.shape);
  }
  for (const formats::TensorInfo& tensor : file.weights().tensors()) {
    const auto found = wanted.find(tensor.name);
    problems.watch([&] {
      check<DataError>(found != wanted.end(), where, "/weights/", tensor.name,
                       ": the configuration has no such weight");
      check<DataError>(found->second == tensor.shape, where, "/weights/", tensor.name, ": has shape ", tensor.shape,
                       ", but the configuration wants ", found->second);
    });
    if (found != wanted.end()) wanted.erase(found);
  }
  for (const auto& [name, shape] : wanted) problems.add({where + "/weights/" + name + ": is missing"});
}

void check_vocabulary(const formats::ModelFile& file) {
  const auto pieces = static_cast<Index>(file.tokenizer_model().pieces.size());
  const Index rows = file.config<models::ModelConfig>()->vocab_size;
  check<DataError>(pieces <= rows, file.file().path(), ": has a tokenizer of ", pieces, " pieces, but the model knows ",
                   rows);
}

std::vector<std::string> verify_model(const formats::ModelFile& file) {
  formats::Problems problems;
  problems.watch([&] {
    try {
      check_shapes(file, problems);
    } catch (const UsageError& error) {
      throw DataError(concatenate(file.file().path(), ": ", error.what(), ". The file is damaged or not heddle's"));
    }
  });
  problems.watch([&] { check_vocabulary(file); });
  problems.add(file.verify());
  return problems.list();
}

std::vector<std::string> verify_tokenizer(const formats::InputFile& file) {
  formats::Problems problems;
  problems.watch([&] { formats::read_tokenizer(file); });
  problems.watch([&] { file.provenance(); });
  return problems.list();
}

// Bytes of the text but for its first token, which has those that it decodes to.
Index predicted_bytes(const formats::TokenFile& tokens, const text::Tokenizer& tokenizer) {
  TokenId first = 0;
  tokens.read(0, {&first, 1});
  if (tokenizer.is_special(first)) return tokens.text_bytes();
  return tokens.text_bytes() - static_cast<Index>(tokenizer.decode({&first, 1}).size());
}

// Windows of `time` tokens.
Score score_of(const formats::LoadedModel& loaded, const formats::TokenFile& tokens, Index time, Index batch_size,
               const std::function<bool()>& stop) {
  if (const auto* const next = loaded.model->as<models::TokenLoss>()) {
    const training::Evaluation result =
        training::evaluate(*next, tokens, {.time = time, .batch_size = batch_size, .stop = stop});
    return {result.tokens, predicted_bytes(tokens, loaded.tokenizer), result.nats};
  }
  const auto& masked = models::require<models::MaskedPredictor>(*loaded.model, "--evaluate", tokens.name());
  const data::MaskVocabulary vocabulary(loaded.tokenizer, tokens.name());
  const training::MaskedEvaluation result =
      training::evaluate(masked, training::evaluation_windows(masked, tokens, vocabulary, time), 0, batch_size, stop);
  Score score{result.tokens, 0, result.nats, {{"accuracy", result.accuracy()}}};
  if (result.pairs > 0) score.figures.push_back({"next_sentence_accuracy", result.pair_accuracy()});
  return score;
}

}  // namespace

std::vector<std::string> verify(const std::string& path) {
  if (std::filesystem::is_directory(path) || formats::find_foreign_vocabulary(path) != nullptr) {
    formats::load_tokenizer(path);
    return {};
  }
  const formats::InputFile file(path);
  if (file.kind() == formats::FileKind::model) return verify_model(formats::ModelFile(path));
  if (file.kind() == formats::FileKind::adapter) return formats::ModelFile(path, file.kind()).verify();
  if (file.kind() == formats::FileKind::tokens) return formats::TokenFile(path).verify();
  if (file.kind() == formats::FileKind::tensors) return formats::verify_embeddings(file);
  return verify_tokenizer(file);
}

double Score::nats_per_token() const {
  return nats / static_cast<double>(tokens);
}

double Score::perplexity() const {
  return std::exp(nats_per_token());
}

double Score::bits_per_byte() const {
  return bytes > 0 ? nats / std::numbers::ln2 / static_cast<double>(bytes) : std::nan("");
}

Score evaluate(const cli::Arguments& arguments, const InspectOptions& options, const std::string& model_path) {
  const formats::LoadedModel loaded = formats::load_language_model(model_path, options.base);
  const formats::TokenFile tokens(options.evaluate);
  tokens.check_made_with(loaded.tokenizer, model_path);
  check<DataError>(tokens.size() >= 2, tokens.name(), ": has ", tokens.size(),
                   tokens.size() == 1 ? " token" : " tokens", "; it takes two to predict one from the other");

  cli::Progress progress(arguments, "tokens");
  const Index most = loaded.model->position_limit();
  check<UsageError>(options.sequence_length <= most, "--sequence-length ", options.sequence_length,
                    " is more than the ", most, " positions of ", model_path);
  const Index time = options.sequence_length > 0 ? options.sequence_length : loaded.model->training_length();
  const Index batch_tokens = options.batch_size * time;
  double done = 0;
  const auto show_progress = [&] {
    progress.update(std::min(done, static_cast<double>(tokens.size())), static_cast<double>(tokens.size()));
    done += static_cast<double>(batch_tokens);
    return false;
  };
  const Score score = score_of(loaded, tokens, time, options.batch_size, show_progress);
  check<NumericError>(std::isfinite(score.nats), tokens.name(), ": the loss of ", model_path,
                      " on it is not finite; inspect --verify finds weights that are not");
  return score;
}

}  // namespace heddle
