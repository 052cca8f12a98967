#include "tools/generate/score_texts.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

#include "heddle/cli/refuse.hpp"
#include "heddle/cli/values.hpp"
#include "tools/lines/batches.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

constexpr Index lines_at_once = 256;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

TextScorer::TextScorer(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                       const cli::Arguments& arguments)
    : model_(model), tokenizer_(tokenizer), options_(options), arguments_(arguments), output_(options.output) {
  refuse({"top"}, arguments, ": is for models that fill in blanks");
  check<DataError>(model.position_limit() > 1, "the model's context is one token, too short to score any");
}

void TextScorer::one() {
  write({make(options_.prompt, "--prompt")});
  finish();
}

void TextScorer::lines(const std::string& file) {
  const Index size = arguments_.given("batch_size") ? options_.batch_size : lines_at_once;
  for_each_line_batch(
      arguments_.open_text(file), size,
      [this](const std::string& text, const std::string& where) { return make(text, where); },
      [this](const std::vector<Text>& batch) { write(batch); });
  finish();
}

// What is before the first token is the token that begins texts, where the model knows one; else that token is given.
TextScorer::Text TextScorer::make(const std::string& line, const std::string& where) {
  Text text{line, encode_line(tokenizer_, line, where), {}, 0};
  const std::optional<TokenId> begin = tokenizer_.end_of_text();
  const auto size = static_cast<Index>(text.ids.size()), room = decoding::score_limit(model_) - (begin ? 1 : 0);
  const bool cut = size > room && options_.overlong == data::Overlong::truncate;
  if (size > room) {
    check<DataError>(options_.overlong != data::Overlong::error, where, ": ", size, " tokens are more than the ", room,
                     " that fit the context; cut the text with --overlong truncate, or read it in parts with "
                     "--overlong split");
    ++overlong_;
  }
  const Index end = cut ? room : size;
  text.bytes = bytes_of_first(text, end) - bytes_of_first(text, begin ? 0 : std::min<Index>(1, end));
  text.ids.resize(static_cast<std::size_t>(end));
  decoding::Tokens ids = text.ids;
  if (begin) ids.insert(ids.begin(), *begin);
  text.parts = parts_of(std::move(ids));
  return text;
}

// Bytes of the text that its first tokens stand for; where the tokenizer changes texts in ways that leave its tokens no
// place in them, of what they decode to.
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

// The first part is as long as can be; each further one scores half a context of tokens after the other half.
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

void TextScorer::write(const std::vector<Text>& texts) {
  std::vector<decoding::GivenTokens> parts;
  for (const Text& text : texts) parts.insert(parts.end(), text.parts.begin(), text.parts.end());
  const auto scores = decoding::token_log_probabilities(model_, parts);
  auto next = scores.begin();
  for (const Text& text : texts) {
    std::vector<double> own;
    for (std::size_t i = 0; i < text.parts.size(); ++i, ++next) own.insert(own.end(), next->begin(), next->end());
    output_.stream() << line(text, own) << "\n";
    ++lines_;
    tokens_ += static_cast<Index>(own.size());
    log_likelihood_ += sum(own);
    bytes_ += text.bytes;
  }
  output_.stream().flush();
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

void TextScorer::finish() {
  output_.close();
  if (overlong_ > 0) {
    const bool split = options_.overlong == data::Overlong::split;
    arguments_.say(counted(overlong_, "text was", "texts were") + " longer than the context and " +
                   (split ? "split" : "cut"));
  }
  if (tokens_ == 0 || bytes_ == 0) return;
  const double nats = -log_likelihood_;
  arguments_.say(concatenate(counted(lines_, "text", "texts"), ", ", counted(tokens_, "token", "tokens"),
                             " scored: ", nats / static_cast<double>(tokens_), " nats a token, ",
                             nats / static_cast<double>(bytes_) / std::numbers::ln2, " bits a byte"));
}

}  // namespace heddle
