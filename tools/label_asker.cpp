#include "label_asker.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/text/text_error.hpp"

namespace heddle {

namespace {

constexpr std::string_view mark = "{}";  // where in the template the text goes

void normalise(std::vector<double>& scores) {
  const double maximum = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - maximum);
  for (double& score : scores) score /= sum;
}

}  // namespace

LabelAsker::LabelAsker(const formats::LoadedDecoder& loaded, const ZeroShotOptions& options,
                       const std::optional<std::string>& neutral, Index batch_tokens)
    : loaded_(loaded), options_(options), batch_tokens_(batch_tokens) {
  const std::string& pattern = options.template_text;
  check<UsageError>(options.labels.size() >= 2, "--labels: at least two are needed");
  check<UsageError>(pattern.find(mark) != pattern.npos,
                    "--template: says with {} where the text goes: --template 'Review: {} Sentiment:'");
  // A label is read on as text would: after a space unless the template ends in white space.
  const bool ends_in_space = std::isspace(static_cast<unsigned char>(pattern.back())) != 0;
  for (const std::string& label : options.labels) {
    labels_.push_back(loaded.tokenizer.encode(ends_in_space ? label : " " + label));
  }
  prior_.assign(labels_.size(), 0.0);
  if (neutral) prior_ = scores({prompt(*neutral, "--neutral")}).front();
}

decoding::Tokens LabelAsker::prompt(const std::string& text, const std::string& where) const {
  std::string asked = options_.template_text;
  asked.replace(asked.find(mark), mark.size(), text);
  check<DataError>(!asked.empty(), where, ": the prompt is empty; write more than {} in --template");
  try {
    return loaded_.tokenizer.encode(asked);
  } catch (const text::TextError& error) {
    throw DataError(where + ": " + error.reason());
  }
}

// Log-likelihoods, or their means.
std::vector<std::vector<double>> LabelAsker::scores(const std::vector<decoding::Tokens>& prompts) const {
  auto scores = decoding::label_log_likelihoods(loaded_.model, prompts, labels_, batch_tokens_);
  if (options_.label_score == LabelScore::sum) return scores;
  for (std::vector<double>& of_prompt : scores) {
    for (std::size_t l = 0; l < labels_.size(); ++l) of_prompt[l] /= static_cast<double>(labels_[l].size());
  }
  return scores;
}

std::vector<std::vector<double>> LabelAsker::operator()(const TaskData& data) const {
  std::vector<decoding::Tokens> prompts;
  for (const data::LabelledText& text : data.texts) {
    prompts.push_back(prompt(text.text, concatenate(data.file, ":", text.line)));
  }
  auto result = scores(prompts);
  for (std::vector<double>& of_prompt : result) {
    for (std::size_t l = 0; l < prior_.size(); ++l) of_prompt[l] -= prior_[l];
    normalise(of_prompt);
  }
  return result;
}

}  // namespace heddle
