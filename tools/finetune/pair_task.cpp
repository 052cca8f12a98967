#include "tools/finetune/pair_task.hpp"

#include "formats/files/content_type.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "libcore/text/unicode.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/tasks/worked_records.hpp"

namespace heddle {

PairTask::PairTask(const FinetuneOptions& options, const RunSpec& spec, const formats::ModelFile& base,
                   const cli::Arguments& arguments)
    : options_(options),
      task_(spec.tuning->task.kind()),
      objective_(*spec.objective),
      arguments_(arguments),
      tokenizer_(base.tokenizer()) {
  if (formats::has_source_tokenizer(base.file())) {
    source_tokenizer_ = formats::read_tokenizer(base.file(), formats::Side::source);
  }
  const Validation valid = validation(options.valid);
  std::unique_ptr<data::PairSource> train = open_all(options.train), valid_file;
  if (!valid.file.empty()) valid_file = open(valid.file);
  pairs_.emplace(std::move(train), std::move(valid_file), valid);
}

std::unique_ptr<data::PairSource> PairTask::open_all(const std::vector<std::string>& words) const {
  std::vector<std::unique_ptr<data::PairSource>> files;
  for (const auto& [path, weight] : training_files(words)) {
    check<UsageError>(weight == 1, "--train: ", path, ": weights are for ",
                      continues() ? "texts, not for prompts and answers" : "--task lm");
    files.push_back(open(path));
  }
  if (files.size() == 1) return std::move(files.front());
  return std::make_unique<data::JoinedPairs>(std::move(files));
}

std::unique_ptr<data::PairSource> PairTask::open(const std::string& path) const {
  if (!formats::looks_like_hdf5(path)) return encode(path);
  auto pairs = std::make_unique<formats::PairsFile>(path);
  pairs->check_made_with(of_sources(), tokenizer_, options_.from);
  return pairs;
}

data::TokenPair PairTask::encode(const data::LabelledText& pair, const std::string& where) const {
  if (continues()) return encode_worked(pair, objective_->answer_mark(), tokenizer_, where);
  const std::string target = pair.second_text.value_or("");
  const bool no_source = text::is_blank(pair.text);
  check<DataError>(!no_source && !text::is_blank(target), where, ": the ", no_source ? "source" : "target",
                   " is empty");
  data::TokenPair encoded{encode_line(of_sources(), pair.text, where), encode_line(tokenizer_, target, where)};
  const bool has_source = !encoded.source.empty();
  check<DataError>(has_source && !encoded.target.empty(), where, ": the ", has_source ? "target" : "source",
                   " has no tokens, since the tokenizer leaves out all of it; leave out the pair");
  return encoded;
}

std::unique_ptr<data::PairSource> PairTask::encode(const std::string& path) const {
  const formats::LabelledInput& input = options_.tuning.input;
  const TaskInput task_input =
      continues() ? worked_input(input) : TaskInput{input, task_, formats::Texts::pair, formats::Gold::absent};
  std::vector<data::TokenPair> pairs;
  read_task_data(path, task_input, arguments_, [&](const TaskData& data, formats::BadRecords& bad) {
    if (continues()) warn_of_records(path, data);
    for (const data::LabelledText& pair : data.texts) {
      bad.attempt_again(pair.line, [&] { pairs.push_back(encode(pair, concatenate(path, ":", pair.line))); });
    }
  });
  check<DataError>(!pairs.empty(), path, continues() ? ": no prompt and answer" : ": no pair of texts");
  if (continues() && std::ranges::all_of(pairs, [](const data::TokenPair& pair) { return pair.source.empty(); })) {
    arguments_.warn(path + ": no record has a prompt, so that the loss counts every token");
  }
  return std::make_unique<data::PairsInMemory>(std::move(pairs), of_sources().vocab_size(), tokenizer_.vocab_size(),
                                               path);
}

void PairTask::warn_of_records(const std::string& path, const TaskData& data) const {
  const auto has_steps = [](const data::LabelledText& text) { return text.steps != nullptr; };
  if (std::ranges::any_of(data.texts, has_steps)) {
    if (const auto warning = mark_warning(objective_->answer_mark(), tokenizer_)) arguments_.warn(*warning);
  }
  if (data.texts.empty()) return;
  const data::LabelledText& first = data.texts.front();
  if (first.text == "prompt" && first.second_text == "answer") {
    arguments_.warn(path + ":1: looks like the names of columns, and is read as a record; --header takes it for names");
  }
}

std::unique_ptr<training::Objective> PairTask::objective(models::TaskModel& model,
                                                         const training::TrainingConfig& config) {
  training::ObjectiveInputs inputs{.model = model.body(), .train = {}, .config = config};
  inputs.train.pairs = &pairs_->train();
  inputs.valid.pairs = pairs_->valid();
  inputs.tokenizer = &tokenizer_;
  if (source_tokenizer_) inputs.source_tokenizer = &*source_tokenizer_;
  return training::make_objective(objective_, inputs);
}

EvaluationSample PairTask::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) {
  Index tokens = 0;
  for (Index pair = 0; pairs_->valid() != nullptr && pair < pairs_->valid()->size(); ++pair) {
    tokens += pairs_->valid()->target_length(pair) + 1;
  }
  return sample_tokens(config, tokens, model.tokens().training_length());
}

std::string PairTask::summary() const {
  return grouped(pairs_->train().size()) + (continues() ? " prompts with answers" : " pairs");
}

}  // namespace heddle
