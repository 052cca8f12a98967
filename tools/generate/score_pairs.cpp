#include "tools/generate/score_pairs.hpp"

#include <numeric>

#include "libcore/base/values.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

PairScorer::PairScorer(ScoringModels<models::SequenceToSequence> models, const GenerateOptions& options,
                       const cli::Arguments& arguments, std::ostream& out)
    : models_(std::move(models)),
      frames_(models_.shortest(), models_.first()),
      options_(options),
      arguments_(arguments),
      out_(out),
      limit_(options.overlong, "text") {
  refuse({"top"}, arguments, ": is for models that fill in masks");
  check<UsageError>(options.overlong != data::Overlong::split,
                    "--overlong split: a pair of texts cannot be split; use --overlong truncate");
}

void PairScorer::answer(const std::vector<Pair>& pairs) {
  std::vector<decoding::GivenTokens> texts;
  for (const Pair& pair : pairs) texts.push_back(pair.tokens);
  const auto scores = decoding::mean_log_probabilities(models_.all(), texts);
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
  if (!options_.jsonl) return format(sum);
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
