#include "tools/generate/score_texts.hpp"

#include <numbers>
#include <numeric>

#include "libcore/base/values.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

TextScorer::TextScorer(ScoringModels<models::TokenLoss> models, const GenerateOptions& options,
                       const cli::Arguments& arguments, std::ostream& out)
    : models_(std::move(models)), options_(options), arguments_(arguments), out_(out), limit_(options.overlong) {
  refuse({"top"}, arguments, ": is for models that fill in masks");
  check<DataError>(models_.shortest().position_limit() > 1,
                   "the model's context is one token, which is too short to score a text");
}

void TextScorer::answer(const std::vector<Text>& texts) {
  std::vector<decoding::GivenTokens> parts;
  for (const Text& text : texts) parts.insert(parts.end(), text.parts.begin(), text.parts.end());
  const auto scores = decoding::mean_log_probabilities(models_.all(), parts);
  auto next = scores.begin();
  for (const Text& text : texts) {
    std::vector<double> own;
    for (std::size_t i = 0; i < text.parts.size(); ++i, ++next) own.insert(own.end(), next->begin(), next->end());
    out_ << line(text, own) << "\n";
    ++lines_;
    tokens_ += static_cast<Index>(own.size());
    log_likelihood_ += sum(own);
    bytes_ += text.bytes;
  }
  out_.flush();
}

std::string TextScorer::line(const Text& text, const std::vector<double>& scores) const {
  if (!options_.jsonl) return format(sum(scores));
  nlohmann::ordered_json each = scores;
  if (scores.size() < text.ids.size()) each.insert(each.begin(), nullptr);
  return json_line({{"text", text.text},
                    {"ids", text.ids},
                    {"log_likelihood", sum(scores)},
                    {"tokens", scores.size()},
                    {"log_probabilities", each}});
}

void TextScorer::report() const {
  limit_.report(arguments_);
  if (tokens_ == 0 || bytes_ == 0) return;
  const double nats = -log_likelihood_;
  arguments_.say(concatenate(counted(lines_, "text", "texts"), ", ", counted(tokens_, "token", "tokens"),
                             " scored: ", nats / static_cast<double>(tokens_), " nats per token, ",
                             nats / static_cast<double>(bytes_) / std::numbers::ln2, " bits per byte"));
}

}  // namespace heddle
