#include "heddle/decoding/zero_shot.hpp"

#include <algorithm>

#include "heddle/decoding/length_batches.hpp"
#include "heddle/ops/cross_entropy.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::decoding {

namespace {

struct Question {
  std::size_t prompt, label;
};

// The log-likelihood of the last tokens of each sequence, as many as its label has.
void score(const models::Decoder& model, std::span<const Question> batch, std::span<const Tokens> prompts,
           std::span<const Tokens> labels, std::vector<std::vector<double>>& scores) {
  std::vector<Index> lengths, rows;
  for (const Question& question : batch) {
    lengths.push_back(static_cast<Index>(prompts[question.prompt].size() + labels[question.label].size()));
  }
  const Index time = *std::max_element(lengths.begin(), lengths.end());
  TokenIds ids(Shape{static_cast<Index>(batch.size()), time});
  std::vector<TokenId> targets;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const Tokens &prompt = prompts[batch[b].prompt], &label = labels[batch[b].label];
    const Index begin = static_cast<Index>(b) * time;
    const auto behind = std::copy(prompt.begin(), prompt.end(), ids.ids.begin() + begin);
    std::copy(label.begin(), label.end(), behind);
    for (std::size_t t = 0; t < label.size(); ++t) rows.push_back(begin + static_cast<Index>(prompt.size() + t) - 1);
    targets.insert(targets.end(), label.begin(), label.end());
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

Index prompt_room(const models::Decoder& model, std::span<const Tokens> labels) {
  std::size_t longest = 0;
  for (const Tokens& label : labels) {
    check<DataError>(!label.empty(), "a label without a token cannot be scored");
    longest = std::max(longest, label.size());
  }
  const Index room = model.config().context - static_cast<Index>(longest);
  check<DataError>(room > 0, "a label of ", longest, " tokens does not fit the context of ", model.config().context);
  return room;
}

std::vector<std::vector<double>> label_log_likelihoods(const models::Decoder& model, std::span<const Tokens> prompts,
                                                       std::span<const Tokens> labels, Index batch_tokens) {
  const auto room = static_cast<std::size_t>(prompt_room(model, labels));
  std::vector<Question> questions;
  std::vector<Index> lengths;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    check<DataError>(!prompts[p].empty(), "prompt ", p + 1, " is empty");
    check<DataError>(prompts[p].size() <= room, "prompt ", p + 1, " has ", prompts[p].size(), " tokens, more than the ",
                     room, " that fit the context with the longest label");
    for (std::size_t l = 0; l < labels.size(); ++l) {
      questions.push_back({p, l});
      lengths.push_back(static_cast<Index>(prompts[p].size() + labels[l].size()));
    }
  }
  std::vector<std::vector<double>> scores(prompts.size(), std::vector<double>(labels.size(), 0.0));
  for_each_length_batch(lengths, batch_tokens, [&](std::span<const std::size_t> numbers) {
    std::vector<Question> batch;
    for (const std::size_t number : numbers) batch.push_back(questions[number]);
    score(model, batch, prompts, labels, scores);
    return true;
  });
  return scores;
}

}  // namespace heddle::decoding
