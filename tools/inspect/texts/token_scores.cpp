#include "tools/inspect/texts/token_scores.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "libcore/analysis/sentence_likelihood.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/scored_text.hpp"

namespace heddle {

namespace {

constexpr Likelihood next_tokens{.name = "next tokens", .sentence = "each token, given those before it"};
constexpr Likelihood masked_tokens{.name = "masked tokens",
                                   .sentence = "each token, masked alone, given all others: pseudo-log-likelihood",
                                   .is_pseudo = true};
constexpr Likelihood target_tokens{.name = "target tokens",
                                   .sentence = "each token of the target, given the source and those before it",
                                   .has_source = true};

class TextScoring {
 public:
  TextScoring(const formats::LoadedModel& loaded, const cli::Arguments& arguments, const ScoringOptions& options)
      : loaded_(loaded), arguments_(arguments), limit_(options.overlong) {
    likely_.top = options.top;
    likely_.vocab_size = loaded.tokenizer.vocab_size();
  }

  Scored operator()(const std::vector<InputText>& inputs) {
    const models::Model& model = *loaded_.model;
    const std::string path = arguments_.operand("MODEL");
    const auto scored_with = [&](const auto& role, const Likelihood& likelihood) {
      Scored scored{loaded_.tokenizer, path, likelihood, {}};
      answer_or_name(path, [&] {
        for (const InputText& input : inputs) scored.texts.push_back(score(role, input));
      });
      limit_.report(arguments_);
      return scored;
    };
    if (const auto* pairs = model.as<models::SequenceToSequence>()) return scored_with(*pairs, target_tokens);
    if (const auto* next = model.as<models::TokenLoss>()) return scored_with(*next, next_tokens);
    const auto* const masked = model.as<models::MaskedPredictor>();
    check<DataError>(masked != nullptr, path,
                     ": inspect surprise needs a model that predicts next tokens, masked tokens or target texts; this "
                     "model predicts none of them");
    return scored_with(*masked, masked_tokens);
  }

 private:
  ScoredCut score(const models::TokenLoss& model, const InputText& input) {
    check<DataError>(model.position_limit() > 1, arguments_.operand("MODEL"),
                     ": its context is one token, which is too short to score a text");
    encode_valid(loaded_.tokenizer, input);  // its errors name line and byte
    const ScoredText text = scored_text(model, loaded_.tokenizer, input, limit_);
    ScoredCut scored{cut_text({loaded_.tokenizer, input.text, text.ids}), {}, text.bytes};
    for (auto& part : decoding::token_predictions(model, text.parts, likely_)) {
      std::ranges::move(part, std::back_inserter(scored.predictions));
    }
    return scored;
  }

  ScoredCut score(const models::MaskedPredictor& model, const InputText& input) {
    check<UsageError>(!limit_.splits(),
                      "--overlong split: masked tokens need all of their text; use --documents line, or --overlong "
                      "truncate");
    analysis::check_masks(model, loaded_.tokenizer);
    EncodedText text(loaded_.tokenizer, input);
    constexpr Index frame = 2;  // [CLS] and [SEP]
    const Index room = model.position_limit() - frame;
    if (limit_.is_exceeded(static_cast<Index>(text.tokens()), room, input.where(),
                           "cut it with --overlong truncate, or into lines with --documents line")) {
      text.truncate(static_cast<std::size_t>(room));
    }
    ScoredCut scored{cut_text(text), {}};
    const decoding::Tokens ids(text.ids().begin(), text.ids().end());
    std::vector<Index> places(ids.size());
    std::iota(places.begin(), places.end(), Index{1});  // after [CLS]
    const auto framed = analysis::framed_for(model, loaded_.tokenizer, ids, input.where());
    scored.predictions = decoding::masked_predictions(model, framed, places, *loaded_.tokenizer.mask(), likely_);
    return scored;
  }

  ScoredCut score(const models::SequenceToSequence& model, const InputText& input) {
    check<UsageError>(!limit_.splits(), "--overlong split: a pair of texts cannot be split; use --overlong truncate");
    const TranslationFrames frames(model, loaded_);
    const ScoredPair pair = scored_pair(model, loaded_, frames, input, limit_);
    const decoding::Tokens ids(pair.tokens.ids.begin() + pair.tokens.from, pair.tokens.ids.end() - 1);
    ScoredCut scored{cut_text({loaded_.tokenizer, pair.target, ids}), {}, 0, pair.source};
    for (const CutToken& token : scored.cut.tokens) {
      scored.bytes += static_cast<Index>(token.gap.size() + token.text.size());
    }
    CutToken end{frames.target.end, std::exchange(scored.cut.end, ""), "", {}, {}, {}};
    scored.cut.tokens.push_back(std::move(end));
    scored.predictions = decoding::token_predictions(model, std::span(&pair.tokens, 1), likely_).front();
    return scored;
  }

  const formats::LoadedModel& loaded_;
  const cli::Arguments& arguments_;
  LengthLimit limit_;
  decoding::LikelyOptions likely_;
};

}  // namespace

Scored score_texts(const formats::LoadedModel& loaded, const std::vector<InputText>& inputs,
                   const ScoringOptions& options, const cli::Arguments& arguments) {
  return TextScoring(loaded, arguments, options)(inputs);
}

}  // namespace heddle
