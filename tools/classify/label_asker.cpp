#include "tools/classify/label_asker.hpp"

#include <cctype>

#include "libcore/decoding/softmax.hpp"
#include "libcore/text/text_error.hpp"

namespace heddle {

namespace {

constexpr std::string_view mark = "{}";  // where in the template the text goes

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

std::string with_text(std::string part, const std::string& text) {
  for (std::size_t at = 0; (at = part.find(mark, at)) != part.npos; at += text.size()) {
    part.replace(at, mark.size(), text);
  }
  return part;
}

}  // namespace

LabelAsker::LabelAsker(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const ClassifyOptions& options,
                       const std::optional<std::string>& neutral)
    : model_(model), tokenizer_(tokenizer), options_(options), limit_(options.overlong, "prompt") {
  const std::string& pattern = options.zero_shot.template_text;
  check<UsageError>(options.zero_shot.labels.size() >= 2, "--labels: at least two are needed");
  check<UsageError>(pattern.find(mark) != pattern.npos,
                    "--template: needs {} in the place of the text: --template 'Review: {} Sentiment:'");
  template_ = cut(pattern, tokenizer);
  labels_ = encoded(options.zero_shot, tokenizer);
  room_ = decoding::prompt_room(model, labels_);
  prior_.assign(labels_.size(), 0.0);
  if (neutral) prior_ = scores({prompt(*neutral, "--neutral")}).front();
}

// Special tokens are recognised in the template only; in a text they are plain text.
decoding::Tokens LabelAsker::prompt(const std::string& text, const std::string& where) {
  decoding::Tokens ids;
  try {
    for (const auto& part : template_) {
      if (const auto* const special = std::get_if<TokenId>(&part)) {
        ids.push_back(*special);
      } else {
        tokenizer_.encode(with_text(std::get<std::string>(part), text), ids, text::SpecialText::plain);
      }
    }
  } catch (const text::TextError& error) {
    throw DataError(where + ": " + error.reason());
  }
  check<DataError>(!ids.empty(), where, ": the prompt is empty; write more than {} in --template");
  if (limit_.is_exceeded(static_cast<Index>(ids.size()), room_, where,
                         "shorten it, or keep its end with --overlong truncate", " together with the longest label")) {
    ids.erase(ids.begin(), ids.end() - room_);
  }
  return ids;
}

// Log-likelihoods, or their means.
std::vector<std::vector<double>> LabelAsker::scores(const std::vector<decoding::Tokens>& prompts) const {
  auto scores = decoding::label_log_likelihoods(model_, prompts, labels_, options_.batch_tokens);
  if (options_.zero_shot.label_score == LabelScore::sum) return scores;
  for (std::vector<double>& of_prompt : scores) {
    for (std::size_t l = 0; l < labels_.size(); ++l) of_prompt[l] /= static_cast<double>(labels_[l].size());
  }
  return scores;
}

std::vector<std::vector<double>> LabelAsker::operator()(const TaskData& data) {
  std::vector<decoding::Tokens> prompts;
  for (const data::LabelledText& text : data.texts) {
    prompts.push_back(prompt(text.text, concatenate(data.file, ":", text.line)));
  }
  auto result = scores(prompts);
  for (std::vector<double>& of_prompt : result) {
    for (std::size_t l = 0; l < prior_.size(); ++l) of_prompt[l] -= prior_[l];
    of_prompt = decoding::softmax(std::span<const double>(of_prompt));
  }
  return result;
}

}  // namespace heddle
