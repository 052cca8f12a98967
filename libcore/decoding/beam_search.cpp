#include "libcore/decoding/beam_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/decoding/logits.hpp"
#include "libcore/tensor/exponentials.hpp"

namespace heddle::decoding {

namespace {

struct Logit {
  Real value;
  TokenId id;
};

// Higher first; of equals, lower ids.
bool before(const Logit& a, const Logit& b) {
  return a.value != b.value ? a.value > b.value : a.id < b.id;
}

// The highest logits, in order; all are finite. Most of the vocabulary is passed over in runs whose maximum is too low.
std::vector<Logit> highest(const Real* logits, Index vocab, std::size_t count) {
  constexpr Index run = 256;
  std::vector<Logit> heap;  // the lowest on top
  for (Index begin = 0; begin < vocab; begin += run) {
    const Index end = std::min(vocab, begin + run);
    if (heap.size() == count && maximum_of(logits + begin, end - begin) <= heap.front().value) continue;
    for (Index i = begin; i < end; ++i) {
      const Logit logit{logits[i], static_cast<TokenId>(i)};
      if (heap.size() == count) {
        if (!before(logit, heap.front())) continue;
        std::pop_heap(heap.begin(), heap.end(), before);
        heap.pop_back();
      }
      heap.push_back(logit);
      std::push_heap(heap.begin(), heap.end(), before);
    }
  }
  std::sort_heap(heap.begin(), heap.end(), before);
  return heap;
}

class BeamSearch : public Search {
 public:
  BeamSearch(const std::vector<TokenId>& prompt, Index max_tokens, Index vocab, const BeamOptions& options)
      : prompt_(prompt),
        max_tokens_(max_tokens),
        vocab_(vocab),
        allowed_(options.vocab_size.value_or(vocab)),
        options_(options),
        alive_(1) {}

  // One more than continue, since one of them may be the end.
  std::vector<Choice> candidates(Index hypothesis, const Real* logits) const override {
    const double log_sum = log_sum_exp(logits, vocab_);
    std::vector<Real> values;
    if (options_.constraints.any()) {
      const std::vector<TokenId> text = whole_text(alive_[static_cast<std::size_t>(hypothesis)]);
      values = constrained(logits, allowed_, {text, length_}, options_.end, options_.constraints);
    }
    const Real* const allowed = values.empty() ? logits : values.data();
    std::vector<Choice> choices;
    for (const auto& [value, id] : highest(allowed, allowed_, static_cast<std::size_t>(options_.width) + 1)) {
      if (std::isfinite(value)) choices.push_back({id, static_cast<double>(value) - log_sum});
    }
    return choices;
  }

  std::vector<Step> advance(std::span<const Prediction> predictions) override {
    for (std::size_t h = 0; h < predictions.size(); ++h) {
      if (predictions[h].candidates.empty()) add_found(alive_[h]);
      cover(alive_[h].coverage, predictions[h].source_weights);
    }
    ++length_;
    std::vector<Text> next;
    std::vector<Step> steps;
    Index rank = 0;
    for (const Candidate& candidate : sorted(predictions)) {
      Text text = extended(candidate);
      const bool is_best = rank++ < options_.width;
      if (ends(text)) {
        if (is_best) add_found(std::move(text));
      } else if (static_cast<Index>(next.size()) < options_.width) {
        next.push_back(std::move(text));
        steps.push_back({candidate.hypothesis, candidate.choice.id});
      }
      if (!is_best && static_cast<Index>(next.size()) == options_.width) break;
    }
    alive_ = std::move(next);
    if (is_over()) steps.clear();
    return steps;
  }

  std::vector<FoundText> take_found() { return std::move(found_); }

 private:
  struct Text {
    std::vector<Choice> tokens;
    double log_likelihood = 0;
    std::vector<double> coverage{};  // the attention of all tokens to each of the source; empty without a penalty
  };
  struct Candidate {
    Index hypothesis;
    Choice choice;
    double log_likelihood;  // log-likelihood of the text with the candidate
  };

  std::vector<TokenId> whole_text(const Text& text) const {
    std::vector<TokenId> ids = prompt_;
    for (const Choice& token : text.tokens) ids.push_back(token.id);
    return ids;
  }

  std::vector<Candidate> sorted(std::span<const Prediction> predictions) const {
    std::vector<Candidate> all;
    for (std::size_t h = 0; h < predictions.size(); ++h) {
      for (const Choice& choice : predictions[h].candidates) {
        all.push_back({static_cast<Index>(h), choice, alive_[h].log_likelihood + choice.log_probability});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.log_likelihood > b.log_likelihood; });
    return all;
  }

  Text extended(const Candidate& candidate) const {
    Text text = alive_[static_cast<std::size_t>(candidate.hypothesis)];
    text.tokens.push_back(candidate.choice);
    text.log_likelihood = candidate.log_likelihood;
    return text;
  }

  bool ends(const Text& text) const {
    return length_ >= max_tokens_ || text.tokens.back().id == options_.end ||
           (options_.ends_with && options_.ends_with(text.tokens));
  }

  double score(double log_likelihood, Index length) const {
    return log_likelihood / std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
  }

  // Adds the attention of a text while its next token is predicted, whichever that is.
  static void cover(std::vector<double>& coverage, std::span<const Real> weights) {
    coverage.resize(weights.size(), 0);
    for (std::size_t j = 0; j < weights.size(); ++j) coverage[j] += static_cast<double>(weights[j]);
  }

  // 0 or less. Weights that vanish in single precision do not make it infinite.
  double coverage_score(const std::vector<double>& coverage) const {
    constexpr double least = std::numeric_limits<float>::min();
    double sum = 0;
    for (const double covered : coverage) sum += std::log(std::clamp(covered, least, 1.0));
    return options_.coverage_penalty * sum;
  }

  // Keeps as many as the beam is wide.
  void add_found(Text text) {
    if (!text.tokens.empty() && text.tokens.back().id == options_.end) text.tokens.pop_back();
    double total = score(text.log_likelihood, length_);
    if (!text.coverage.empty()) total += coverage_score(text.coverage);
    const FoundText found{std::move(text.tokens), total};
    const auto place = std::upper_bound(found_.begin(), found_.end(), found,
                                        [](const FoundText& a, const FoundText& b) { return a.score > b.score; });
    found_.insert(place, found);
    if (static_cast<Index>(found_.size()) > options_.width) found_.pop_back();
  }

  // No text that continues scores more than its likelihood now at the greatest length with all of the source covered,
  // since tokens only make it less likely. Greedy decoding does not look beyond the first end, whatever a longer text
  // would score.
  bool is_over() const {
    if (alive_.empty()) return true;
    if (static_cast<Index>(found_.size()) < options_.width) return false;
    return options_.width == 1 || found_.back().score >= score(alive_.front().log_likelihood, max_tokens_);
  }

  const std::vector<TokenId>& prompt_;
  const Index max_tokens_, vocab_, allowed_;
  const BeamOptions& options_;
  std::vector<Text> alive_;       // best first
  std::vector<FoundText> found_;  // best first
  Index length_ = 0;              // length of the unfinished texts
};

}  // namespace

std::vector<std::vector<FoundText>> beam_search(const models::Generator& model,
                                                const std::vector<std::vector<TokenId>>& prompts, Index first_prompt,
                                                const BeamOptions& options,
                                                const std::vector<std::vector<TokenId>>& sources) {
  check<UsageError>(options.width >= 1 && options.length_penalty >= 0 && options.max_tokens >= 1, "a beam of ",
                    options.width, ", length penalty ", options.length_penalty, " and ", options.max_tokens,
                    " tokens: none can be less than 1, 0 and 1");
  check<UsageError>(options.coverage_penalty >= 0, "a coverage penalty of ", options.coverage_penalty,
                    ": it cannot be negative");
  const bool covers = options.coverage_penalty > 0;
  check<UsageError>(!covers || model.attends_to_source(), "a coverage penalty: the model does not attend to a source");
  std::vector<std::unique_ptr<Search>> searches;
  for (const auto& prompt : prompts) {
    const Index most = options.max_tokens_of.empty() ? options.max_tokens : options.max_tokens_of.at(searches.size());
    searches.push_back(std::make_unique<BeamSearch>(prompt, most, model.vocab_size(), options));
  }
  run_searches(model, prompts, first_prompt, searches, {options.max_tokens, options.cache, covers}, sources);
  std::vector<std::vector<FoundText>> found;
  for (const auto& search : searches) found.push_back(static_cast<BeamSearch&>(*search).take_found());
  return found;
}

}  // namespace heddle::decoding
