#include "libcore/decoding/generate.hpp"

#include <utility>

namespace heddle::decoding {

namespace {

constexpr TokenId nothing_left = -1;  // in place of a token, if the constraints allow none

// All samples of one prompt.
class SampleSearch : public Search {
 public:
  SampleSearch(Index prompt, const std::vector<TokenId>& tokens, Index max_tokens, Index vocab,
               const GenerateOptions& options, const TokenSink& sink)
      : prompt_(prompt),
        max_tokens_(max_tokens),
        vocab_(vocab),
        allowed_(options.vocab_size.value_or(vocab)),
        options_(options),
        sink_(sink) {
    for (Index sample = 0; sample < options.samples; ++sample) alive_.push_back({sample, 0, tokens});
  }

  // A token for each sample that stands there: for all of them at first.
  std::vector<Choice> candidates(Index hypothesis, const Real* logits) const override {
    std::vector<Choice> choices;
    for (const Sample& s : alive_) {
      if (s.hypothesis == hypothesis) choices.push_back(choose(s, logits));
    }
    return choices;
  }

  std::vector<Step> advance(std::span<const Prediction> predictions) override {
    std::vector<Step> steps;
    std::vector<Sample> alive;
    std::vector<std::size_t> used(predictions.size(), 0);
    ++produced_;
    for (Sample& s : alive_) {
      const auto at = static_cast<std::size_t>(s.hypothesis);
      const Choice& choice = predictions[at].candidates[used[at]++];
      if (choice.id == nothing_left || (options_.end && choice.id == *options_.end)) continue;
      const bool wanted = sink_(prompt_ * options_.samples + s.number, choice);
      if (!wanted || produced_ >= max_tokens_) continue;
      s.text.push_back(choice.id);
      steps.push_back({std::exchange(s.hypothesis, static_cast<Index>(steps.size())), choice.id});
      alive.push_back(std::move(s));
    }
    alive_ = std::move(alive);
    return steps;
  }

 private:
  struct Sample {
    Index number, hypothesis;
    std::vector<TokenId> text;
  };

  Choice choose(const Sample& sample, const Real* logits) const {
    static const std::uint64_t site = random_site("decoding/sample");
    const auto draws = static_cast<std::uint64_t>(prompt_) + (static_cast<std::uint64_t>(sample.number) << 40);
    std::vector<Real> values;
    if (options_.constraints.any()) {
      values = constrained(logits, allowed_, {sample.text, produced_}, options_.end, options_.constraints);
      if (nothing_allowed(values)) return {nothing_left, 0};
    }
    return decoding::sample({logits, vocab_, allowed_, values}, options_.sampling, sample.text,
                            RandomStream(options_.seed, site, draws), static_cast<std::uint64_t>(produced_));
  }

  const Index prompt_, max_tokens_, vocab_, allowed_;
  const GenerateOptions& options_;
  const TokenSink& sink_;
  std::vector<Sample> alive_;
  Index produced_ = 0;
};

}  // namespace

void generate(const models::Generator& model, const std::vector<std::vector<TokenId>>& prompts, Index first_prompt,
              const GenerateOptions& options, const TokenSink& sink, const std::vector<std::vector<TokenId>>& sources) {
  if (options.max_tokens == 0) return;
  std::vector<std::unique_ptr<Search>> searches;
  for (const auto& prompt : prompts) {
    const Index number = first_prompt + static_cast<Index>(searches.size());
    const Index most = options.max_tokens_of.empty() ? options.max_tokens : options.max_tokens_of.at(searches.size());
    searches.push_back(std::make_unique<SampleSearch>(number, prompt, most, model.vocab_size(), options, sink));
  }
  run_searches(model, prompts, first_prompt, searches, {options.max_tokens, options.cache}, sources);
}

}  // namespace heddle::decoding
