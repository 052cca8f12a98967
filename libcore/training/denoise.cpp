#include "libcore/training/denoise.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

namespace {

// Tokens of a piece of text of which source and target fill a training window at most.
Index most_tokens(const models::SequenceToSequence& model, const data::PairFrames& frames,
                  const data::NoiseOptions& noise) {
  const Index window = model.training_length();
  const Index source = window - frames.source.tokens(), target = window - frames.target.tokens();
  const auto fits = [&](Index tokens) {
    const data::PairLengths lengths = data::noised_lengths(tokens, noise);
    return lengths.source <= source && lengths.target <= target;
  };
  Index most = source;
  while (most > 1 && !fits(most)) --most;
  check<UsageError>(most > 1, "a context of ", window, " has no room for text between special tokens");
  return most;
}

}  // namespace

data::NoisyPairs noisy_pairs(const models::SequenceToSequence& model, const data::TokenSource& tokens,
                             const data::NoiseVocabulary& vocabulary, const data::PairFrames& frames,
                             const data::NoiseOptions& noise, std::uint64_t seed) {
  return {{.tokens = tokens, .most = most_tokens(model, frames, noise)}, vocabulary, noise, seed};
}

Denoise::Denoise(models::Model& model, NoisyTexts texts, const data::PairFrames& frames,
                 const data::PairOptions& options, const TrainingConfig& config)
    : NoisyTexts(std::move(texts)),
      PairObjective(model, models::require<models::SequenceToSequence>(model, "the denoise objective", "training"),
                    {train, valid ? &*valid : nullptr, frames}, options, config) {}

std::vector<Origin> Denoise::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index i = 0; i < count; ++i) {
    for (const Index pair : groups().pairs_of(first + i)) {
      origins.push_back(origin_of(train.tokens(), train.offset_of(pair)));
    }
  }
  return origins;
}

std::string Denoise::note() const {
  const Index left_out = train.left_out();
  if (left_out == 0) return "";
  return concatenate(train.name(), ": ", counted(left_out, "document", "documents"),
                     " of fewer than two tokens left out");
}

namespace {

struct DenoiseSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "denoise";
  data::NoiseOptions noise;
  Index group_tokens = 0;

  void validate() const override {
    const bool spans = noise.noise == data::NoiseKind::spans;
    check<UsageError>(spans || !noise.random_roll, "`objective`: random-roll is for noise=spans; leave it out");
    check<UsageError>(!spans || noise.permute_sentences,
                      "`objective`: permute-sentences is for noise=infilling; leave it out");
  }

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    const auto& model = models::require<models::SequenceToSequence>(inputs.model, "the denoise objective", "training");
    check<UsageError>(inputs.source_tokenizer == nullptr,
                      "the denoise objective needs one tokenizer, and the model's sources have another one");
    const data::TokenSource& train = *inputs.train.text;
    data::PairFrames frames{{}, {}, model.start_token().value_or(0)};
    if (inputs.tokenizer != nullptr) frames = pair_frames(model, *inputs.tokenizer, nullptr);
    const data::NoiseVocabulary vocabulary = inputs.tokenizer != nullptr
                                                 ? data::NoiseVocabulary(*inputs.tokenizer, noise.noise, train.name())
                                                 : data::NoiseVocabulary(inputs.model.tokens().vocab_size());
    NoisyTexts texts{noisy_pairs(model, train, vocabulary, frames, noise, inputs.config.seed), {}};
    if (inputs.valid.text != nullptr) {
      texts.valid.emplace(noisy_pairs(model, *inputs.valid.text, vocabulary, frames, noise));
    }
    return std::make_unique<Denoise>(inputs.model, std::move(texts), frames,
                                     data::PairOptions{.batch_tokens = group_tokens}, inputs.config);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    const auto& model =
        models::require<models::SequenceToSequence>(inputs.model, "the denoise objective", inputs.model_name);
    check<UsageError>(inputs.source_tokenizer == nullptr,
                      "the denoise objective needs one tokenizer, and the model's sources have another one");
    const data::PairFrames frames = pair_frames(model, *inputs.tokenizer, nullptr);
    const data::NoiseVocabulary vocabulary(*inputs.tokenizer, noise.noise, inputs.model_name);
    ObjectiveEvaluation result =
        evaluate_pairs(inputs, model, noisy_pairs(model, *inputs.data.text, vocabulary, frames, noise), frames);
    result.covers_text = false;
    return result;
  }

  Index batch_tokens() const override { return group_tokens; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    data::NoiseOptions::visit(self.noise, visitor);
    visitor(data::batch_tokens_field(), self.group_tokens);
  }
};

}  // namespace

ObjectiveChoice denoise_defaults() {
  return DenoiseSettings();
}

}  // namespace heddle::training
