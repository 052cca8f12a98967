#include "heddle/decoding/generate.hpp"

#include <algorithm>

#include "heddle/tensor/threads.hpp"

namespace heddle::decoding {

namespace {

struct Sequence {
  Index number;               // among all prompts
  std::vector<TokenId> seen;  // what the model has read since the context was last cut
  std::vector<TokenId> next;  // what it has to read
  Index produced = 0;
};

class Batch {
 public:
  Batch(const models::Decoder& model, std::vector<Sequence> sequences, Index first_sequence,
        const GenerateOptions& options)
      : model_(model), sequences_(std::move(sequences)), first_sequence_(first_sequence), options_(options) {}

  void run(const TokenSink& sink) {
    restart();
    while (!sequences_.empty()) {
      const Tensor logits = read();
      deliver(logits, sink);
      if (!sequences_.empty() && longest() > capacity_) restart();
    }
  }

 private:
  Index longest() const {
    std::size_t most = 0;
    for (const Sequence& s : sequences_) most = std::max(most, s.seen.size() + s.next.size());
    return static_cast<Index>(most);
  }

  // Reads every sequence anew, cut to its last half where it no longer fits.
  void restart() {
    const Index context = model_.config().context;
    for (Sequence& s : sequences_) {
      s.seen.insert(s.seen.end(), s.next.begin(), s.next.end());
      s.next = std::exchange(s.seen, {});
      if (static_cast<Index>(s.next.size()) > context) s.next.erase(s.next.begin(), s.next.end() - (context + 1) / 2);
    }
    capacity_ = std::min(context, longest() + options_.max_tokens);
    state_ = model_.start(static_cast<Index>(sequences_.size()), capacity_, options_.cache);
  }

  Tensor read() {
    std::size_t time = 0;
    for (const Sequence& s : sequences_) time = std::max(time, s.next.size());
    TokenIds ids(Shape{static_cast<Index>(sequences_.size()), static_cast<Index>(time)});
    std::vector<Index> added;
    for (std::size_t row = 0; row < sequences_.size(); ++row) {
      Sequence& s = sequences_[row];
      std::copy(s.next.begin(), s.next.end(), ids.ids.begin() + static_cast<std::ptrdiff_t>(row * time));
      added.push_back(static_cast<Index>(s.next.size()));
      s.seen.insert(s.seen.end(), s.next.begin(), s.next.end());
      s.next.clear();
    }
    return model_.step(ids, added, state_);
  }

  // Chooses a token for every sequence and drops those that end.
  void deliver(const Tensor& logits, const TokenSink& sink) {
    const Index vocab = model_.config().vocab_size;
    static const std::uint64_t site = random_site("decoding/sample");
    std::vector<Sequence> going_on;
    std::vector<Index> rows;
    std::vector<Choice> choices(sequences_.size());
    parallel_for(static_cast<Index>(choices.size()), [&](Index row) {
      const auto at = static_cast<std::size_t>(row);
      const auto number = static_cast<std::uint64_t>(first_sequence_ + sequences_[at].number);
      choices[at] = sample(logits.data() + row * vocab, vocab, options_.sampling,
                           RandomStream(options_.seed, site, number), static_cast<std::uint64_t>(sequences_[at].produced));
    });
    for (std::size_t row = 0; row < sequences_.size(); ++row) {
      Sequence& s = sequences_[row];
      const Choice& choice = choices[row];
      if (options_.end && choice.id == *options_.end) continue;
      ++s.produced;
      const bool wanted = sink(first_sequence_ + s.number, choice);
      if (!wanted || s.produced >= options_.max_tokens) continue;
      s.next = {choice.id};
      rows.push_back(static_cast<Index>(row));
      going_on.push_back(std::move(s));
    }
    if (going_on.size() < sequences_.size() && !going_on.empty()) state_.reorder(rows);
    sequences_ = std::move(going_on);
  }

  const models::Decoder& model_;
  std::vector<Sequence> sequences_;
  const Index first_sequence_;
  const GenerateOptions& options_;
  models::DecoderState state_;
  Index capacity_ = 0;
};

}  // namespace

void generate(const models::Decoder& model, const std::vector<std::vector<TokenId>>& prompts, Index first_sequence,
              const GenerateOptions& options, const TokenSink& sink) {
  std::vector<Sequence> sequences;
  for (const auto& prompt : prompts) {
    const auto number = static_cast<Index>(sequences.size());
    check<DataError>(!prompt.empty(), "prompt ", first_sequence + number + 1, " is empty");
    check<DataError>(static_cast<Index>(prompt.size()) <= model.config().context, "prompt ",
                     first_sequence + number + 1, " has ", prompt.size(), " tokens, more than the context of ",
                     model.config().context);
    sequences.push_back({number, {}, prompt});
  }
  if (options.max_tokens > 0 && !sequences.empty()) Batch(model, std::move(sequences), first_sequence, options).run(sink);
}

}  // namespace heddle::decoding
