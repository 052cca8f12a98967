#include <cctype>
#include <optional>
#include <variant>

#include "formats/heddle/task_file.hpp"
#include "libcore/decoding/class_probabilities.hpp"
#include "libcore/decoding/zero_shot.hpp"
#include "libcore/text/text_error.hpp"
#include "tools/classify/answerer.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/length_limit.hpp"

namespace heddle {

namespace {

constexpr std::string_view mark = "{}";  // place of the text in the template

// The labels as continuations of the prompt: with a space before them unless the template ends in white space.
std::vector<decoding::Tokens> encoded(const ZeroShotOptions& options, const text::Tokenizer& tokenizer) {
  const bool ends_in_space = std::isspace(static_cast<unsigned char>(options.template_text.back())) != 0;
  std::vector<decoding::Tokens> labels;
  for (const std::string& label : options.labels) {
    labels.push_back(tokenizer.encode(ends_in_space ? label : " " + label, text::SpecialText::plain));
  }
  return labels;
}

std::vector<std::variant<TokenId, std::string>> cut(const std::string& pattern, const text::Tokenizer& tokenizer) {
  std::vector<std::variant<TokenId, std::string>> parts;
  std::size_t begin = 0;
  while (const auto special = tokenizer.find_special(pattern, begin)) {
    parts.emplace_back(pattern.substr(begin, special->begin - begin));
    parts.emplace_back(special->id);
    begin = special->end;
  }
  parts.emplace_back(pattern.substr(begin));
  return parts;
}

// The token that texts begin with, as in generate --score, unless the template spells it.
decoding::Tokens beginning_of(const std::string& pattern, const text::Tokenizer& tokenizer) {
  const std::optional<TokenId> begin = tokenizer.end_of_text();
  const auto special = tokenizer.find_special(pattern, 0);
  const bool is_there = special && special->begin == 0 && special->id == begin;
  return begin && !is_there ? decoding::Tokens{*begin} : decoding::Tokens();
}

std::string with_text(std::string part, const std::string& text) {
  for (std::size_t at = 0; (at = part.find(mark, at)) != part.npos; at += text.size()) {
    part.replace(at, mark.size(), text);
  }
  return part;
}

class ZeroShotAnswerer : public Answerer {
 public:
  ZeroShotAnswerer(const ClassifyOptions& options, const cli::Arguments& arguments)
      : options_(options),
        arguments_(arguments),
        loaded_(formats::load_language_model(arguments.operand("MODEL"), options.base)),
        model_(models::require<models::TokenLoss>(*loaded_.model, "--labels", arguments.operand("MODEL"))),
        limit_(options.overlong, "prompt") {
    refuse_unused(models::TaskConfig(), options, arguments);
    refuse({"baseline"}, arguments, ": is for fine-tuned models, whose labels both have");
    const std::string& pattern = options.zero_shot.template_text;
    check<UsageError>(options.zero_shot.labels.size() >= 2, "--labels: at least two are needed");
    check<UsageError>(pattern.find(mark) != pattern.npos,
                      "--template: needs {} in the place of the text: --template 'Review: {} Sentiment:'");
    template_ = cut(pattern, loaded_.tokenizer);
    begin_ = beginning_of(pattern, loaded_.tokenizer);
    labels_ = encoded(options.zero_shot, loaded_.tokenizer);
    room_ = decoding::prompt_room(model_, labels_);
    prior_.assign(labels_.size(), 0.0);
    if (arguments.given("neutral")) prior_ = scores({prompt(options.zero_shot.neutral, "--neutral")}).front();
    label_set_ = data::LabelSet(options.zero_shot.labels);
    task_ = {.task = models::Task::classify, .labels = label_set_.names()};
  }

  const models::TaskConfig& task() const override { return task_; }
  const data::LabelSet& labels() const override { return label_set_; }
  std::vector<const text::Tokenizer*> tokenizers() const override { return {&loaded_.tokenizer}; }

  // The probability of each label.
  TaskAnswers answer(const TaskData& data) override {
    std::vector<decoding::Tokens> prompts;
    for (const data::LabelledText& text : data.texts) {
      prompts.push_back(prompt(text.text, concatenate(data.file, ":", text.line)));
    }
    TaskAnswers answers;
    answers.classes = scores(prompts);
    for (std::vector<double>& of_prompt : answers.classes) {
      for (std::size_t l = 0; l < prior_.size(); ++l) of_prompt[l] -= prior_[l];
      of_prompt = decoding::softmax(std::span<const double>(of_prompt));
    }
    return answers;
  }

  void report() const override { limit_.report(arguments_, " at the beginning"); }

  // A language model's training data have no labels.
  std::optional<Baseline> baseline(const TaskData&) const override { return std::nullopt; }
  std::optional<std::string> warning(const TaskData&, const std::string&) const override { return std::nullopt; }

 private:
  // Prompts lose their beginning, after the token that texts begin with, where they are too long. Special tokens are
  // recognised in the template only; in a text they are plain text.
  decoding::Tokens prompt(const std::string& text, const std::string& where) {
    decoding::Tokens ids = begin_;
    try {
      for (const auto& part : template_) {
        if (const auto* const special = std::get_if<TokenId>(&part)) {
          ids.push_back(*special);
        } else {
          loaded_.tokenizer.encode(with_text(std::get<std::string>(part), text), ids, text::SpecialText::plain);
        }
      }
    } catch (const text::TextError& error) {
      throw DataError(where + ": " + error.reason());
    }
    check<DataError>(!ids.empty(), where, ": the prompt is empty; write more than {} in --template");
    if (limit_.is_exceeded(static_cast<Index>(ids.size()), room_, where,
                           "shorten it, or keep its end with --overlong truncate",
                           " together with the longest label")) {
      const auto kept = std::min(static_cast<Index>(begin_.size()), room_ - 1);
      ids.erase(ids.begin() + kept, ids.end() - (room_ - kept));
    }
    return ids;
  }

  // Log-likelihoods, or their means.
  std::vector<std::vector<double>> scores(const std::vector<decoding::Tokens>& prompts) const {
    auto scores = decoding::label_log_likelihoods(model_, prompts, labels_, options_.batch_tokens);
    if (options_.zero_shot.label_score == LabelScore::sum) return scores;
    for (std::vector<double>& of_prompt : scores) {
      for (std::size_t l = 0; l < labels_.size(); ++l) of_prompt[l] /= static_cast<double>(labels_[l].size());
    }
    return scores;
  }

  const ClassifyOptions& options_;
  const cli::Arguments& arguments_;
  const formats::LoadedModel loaded_;
  const models::TokenLoss& model_;
  decoding::Tokens begin_;
  std::vector<std::variant<TokenId, std::string>> template_;  // cut where it spells special tokens
  std::vector<decoding::Tokens> labels_;
  Index room_ = 0;             // maximal length of a prompt, in tokens
  std::vector<double> prior_;  // score of each label after the prompt with the neutral text
  LengthLimit limit_;
  data::LabelSet label_set_;
  models::TaskConfig task_;
};

}  // namespace

std::unique_ptr<Answerer> zero_shot_answerer(const ClassifyOptions& options, const cli::Arguments& arguments) {
  return std::make_unique<ZeroShotAnswerer>(options, arguments);
}

}  // namespace heddle
