#include "tools/generate/score_texts.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

#include "heddle/cli/refuse.hpp"
#include "heddle/cli/values.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

TextScorer::TextScorer(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                       const cli::Arguments& arguments, std::ostream& out)
    : model_(model),
      tokenizer_(tokenizer),
      options_(options),
      arguments_(arguments),
      out_(out),
      limit_(options.overlong) {
  refuse({"top"}, arguments, ": is for models that fill in masks");
  check<DataError>(model.position_limit() > 1, "the model's context is one token, which is too short to score a text");
}

// The token before the first one is the model's token that begins texts, if it has one; else the first token is not
// scored.
TextScorer::Text TextScorer::make(const InputText& input) {
  Text text{input.text, encode_line(tokenizer_, input.text, input.where()), {}, 0};
  const std::optional<TokenId> begin = tokenizer_.end_of_text();
  const auto size = static_cast<Index>(text.ids.size()), room = decoding::score_limit(model_) - (begin ? 1 : 0);
  const bool is_long = limit_.is_exceeded(size, room, input.where(),
                                          "cut it with --overlong truncate, or read it in parts with --overlong split");
  const Index end = is_long && !limit_.splits() ? room : size;
  text.bytes = bytes_of_first(text, end) - bytes_of_first(text, begin ? 0 : std::min<Index>(1, end));
  text.ids.resize(static_cast<std::size_t>(end));
  decoding::Tokens ids = text.ids;
  if (begin) ids.insert(ids.begin(), *begin);
  text.parts = parts_of(std::move(ids));
  return text;
}

// Bytes of the text that its first tokens stand for; if the tokenizer changes texts so that tokens have no offsets in
// them, the bytes that the tokens decode to.
Index TextScorer::bytes_of_first(const Text& text, Index count) const {
  const auto tokens = static_cast<std::size_t>(count);
  if (count == 0) return 0;
  if (tokens == text.ids.size()) return static_cast<Index>(text.text.size());
  try {
    return static_cast<Index>(tokenizer_.encode_with_offsets(text.text).at(tokens - 1).end);
  } catch (const DataError&) {
    return static_cast<Index>(tokenizer_.decode(std::span(text.ids).first(tokens)).size());
  }
}

// The first part fills the context; each further one scores half a context of tokens after the other half.
std::vector<decoding::GivenTokens> TextScorer::parts_of(decoding::Tokens ids) const {
  const auto size = static_cast<Index>(ids.size()), most = decoding::score_limit(model_);
  std::vector<decoding::GivenTokens> parts;
  for (Index scored = 1, end = std::min(size, most); scored < size;
       scored = end, end = std::min(size, end + model_.position_limit() / 2)) {
    const Index begin = std::max<Index>(0, end - most);
    parts.push_back({{ids.begin() + begin, ids.begin() + end}, scored - begin});
  }
  return parts;
}

void TextScorer::answer(const std::vector<Text>& texts) {
  std::vector<decoding::GivenTokens> parts;
  for (const Text& text : texts) parts.insert(parts.end(), text.parts.begin(), text.parts.end());
  const auto scores = decoding::token_log_probabilities(model_, parts);
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
  if (!options_.jsonl) return cli::format(sum(scores));
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
