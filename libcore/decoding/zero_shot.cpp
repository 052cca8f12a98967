#include "heddle/decoding/zero_shot.hpp"

#include <algorithm>
#include <numeric>

#include "heddle/ops/cross_entropy.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::decoding {

namespace {

struct Question {
  std::size_t prompt, label;
  Tokens ids;  // of the prompt and then the label
};

// The log-likelihood of the last tokens of each sequence, as many as its label has.
void score(const models::Decoder& model, std::span<const Question> batch, std::span<const Tokens> labels,
           std::vector<std::vector<double>>& scores) {
  Index time = 0;
  for (const Question& question : batch) time = std::max(time, static_cast<Index>(question.ids.size()));
  TokenIds ids(Shape{static_cast<Index>(batch.size()), time});
  std::vector<Index> lengths, rows;
  std::vector<TokenId> targets;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const Index begin = static_cast<Index>(b) * time, length = static_cast<Index>(batch[b].ids.size());
    std::copy(batch[b].ids.begin(), batch[b].ids.end(), ids.ids.begin() + begin);
    lengths.push_back(length);
    const Tokens& label = labels[batch[b].label];
    for (std::size_t t = 0; t < label.size(); ++t) {
      rows.push_back(begin + length - static_cast<Index>(label.size() - t) - 1);
      targets.push_back(label[t]);
    }
  }
  const Variable hidden = model.hidden({std::move(ids), std::move(lengths)});
  const std::vector<double> nats =
      ops::negative_log_likelihoods(model.logits(ops::gather_rows(hidden, rows)).value(), targets);
  std::size_t at = 0;
  for (const Question& question : batch) {
    double& sum = scores[question.prompt][question.label];
    for (std::size_t t = 0; t < labels[question.label].size(); ++t) sum -= nats[at++];
  }
}

}  // namespace

std::vector<std::vector<double>> label_log_likelihoods(const models::Decoder& model, std::span<const Tokens> prompts,
                                                       std::span<const Tokens> labels, Index batch_tokens) {
  const auto context = static_cast<std::size_t>(model.config().context);
  std::size_t longest = 0;
  for (const Tokens& label : labels) {
    check<DataError>(!label.empty(), "a label without a token cannot be scored");
    longest = std::max(longest, label.size());
  }
  check<DataError>(longest < context, "a label of ", longest, " tokens does not fit the context of ", context);
  std::vector<Question> questions;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    check<DataError>(!prompts[p].empty(), "prompt ", p + 1, " is empty");
    const std::size_t cut = prompts[p].size() - std::min(prompts[p].size(), context - longest);
    for (std::size_t l = 0; l < labels.size(); ++l) {
      Tokens ids(prompts[p].begin() + static_cast<std::ptrdiff_t>(cut), prompts[p].end());
      ids.insert(ids.end(), labels[l].begin(), labels[l].end());
      questions.push_back({p, l, std::move(ids)});
    }
  }
  std::stable_sort(questions.begin(), questions.end(),
                   [](const Question& a, const Question& b) { return a.ids.size() > b.ids.size(); });
  std::vector<std::vector<double>> scores(prompts.size(), std::vector<double>(labels.size(), 0.0));
  for (std::size_t begin = 0; begin < questions.size();) {
    const Index most = std::max<Index>(1, batch_tokens / static_cast<Index>(questions[begin].ids.size()));
    const std::size_t count = std::min(questions.size() - begin, static_cast<std::size_t>(most));
    score(model, std::span(questions).subspan(begin, count), labels, scores);
    begin += count;
  }
  return scores;
}

}  // namespace heddle::decoding
