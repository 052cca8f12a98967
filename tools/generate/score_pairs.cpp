#include "tools/generate/score_pairs.hpp"

#include <limits>
#include <numeric>

#include "heddle/cli/refuse.hpp"
#include "heddle/cli/values.hpp"
#include "tools/generate/blank_text.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

PairScorer::PairScorer(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                       const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out)
    : model_(model),
      loaded_(loaded),
      frames_(model, loaded),
      options_(options),
      arguments_(arguments),
      out_(out),
      limit_(options.overlong, "text") {
  refuse({"top"}, arguments, ": is for models that fill in masks");
  check<UsageError>(options.overlong != data::Overlong::split,
                    "--overlong split: a pair of texts cannot be split; use --overlong truncate");
}

std::vector<TokenId> PairScorer::within(std::vector<TokenId> ids, Index room, const InputText& input) {
  if (limit_.is_exceeded(static_cast<Index>(ids.size()), room, input.where(), "cut it with --overlong truncate")) {
    ids.resize(static_cast<std::size_t>(room));
  }
  return ids;
}

PairScorer::Pair PairScorer::make(const InputText& input) {
  const std::size_t tab = input.text.find('\t');
  check<DataError>(tab != std::string::npos && input.text.find('\t', tab + 1) == std::string::npos, input.where(),
                   ": is not SOURCE, tab, TARGET; --score with this model needs both (paste source.txt target.txt)");
  Pair pair{input.text.substr(0, tab), input.text.substr(tab + 1), {}};
  const Index most_source = model_.max_source_positions().value_or(std::numeric_limits<Index>::max());
  const auto ids_of = [&](const text::Tokenizer& tokenizer, const std::string& text) {
    return BlankText(tokenizer, text, noise_marks(tokenizer)).encode(input.where());
  };
  const auto source = within(ids_of(loaded_.of_sources(), pair.source), most_source - frames_.source.tokens(), input);
  const auto prompt = static_cast<Index>(frames_.prompt.size());
  const auto target = within(ids_of(loaded_.tokenizer, pair.target), model_.position_limit() - prompt, input);
  pair.tokens = {frames_.prompt, prompt, frames_.source.around(source)};
  pair.tokens.ids.insert(pair.tokens.ids.end(), target.begin(), target.end());
  pair.tokens.ids.push_back(frames_.target.end);
  return pair;
}

void PairScorer::answer(const std::vector<Pair>& pairs) {
  std::vector<decoding::GivenTokens> texts;
  for (const Pair& pair : pairs) texts.push_back(pair.tokens);
  const auto scores = decoding::token_log_probabilities(model_, texts);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    out_ << line(pairs[i], scores[i]) << "\n";
    ++pairs_;
    tokens_ += static_cast<Index>(scores[i].size());
    log_likelihood_ += std::accumulate(scores[i].begin(), scores[i].end(), 0.0);
  }
  out_.flush();
}

std::string PairScorer::line(const Pair& pair, const std::vector<double>& scores) const {
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  if (!options_.jsonl) return cli::format(sum);
  const std::vector<TokenId> ids(pair.tokens.ids.begin() + pair.tokens.from, pair.tokens.ids.end());
  return json_line({{"source", pair.source},
                    {"text", pair.target},
                    {"ids", ids},
                    {"log_likelihood", sum},
                    {"tokens", scores.size()},
                    {"log_probabilities", scores}});
}

void PairScorer::report() const {
  limit_.report(arguments_);
  if (tokens_ == 0) return;
  arguments_.say(concatenate(counted(pairs_, "pair", "pairs"), ", ", counted(tokens_, "token", "tokens"),
                             " of targets scored: ", -log_likelihood_ / static_cast<double>(tokens_),
                             " nats per token"));
}

}  // namespace heddle
