#include "tools/generate/text_search.hpp"

#include <algorithm>

#include "libcore/decoding/beam_search.hpp"
#include "libcore/decoding/generate.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

// Padding is no text. Where it is the last token, as in Marian's models, it is left out.
Index generated_tokens(const text::Tokenizer& tokenizer) {
  const Index vocab = tokenizer.vocab_size();
  return tokenizer.padding() == static_cast<TokenId>(vocab - 1) ? vocab - 1 : vocab;
}

}  // namespace

TextSearch::TextSearch(const models::Generator& model, const text::Tokenizer& tokenizer, text::TextPlace place,
                       std::optional<TokenId> end, const GenerateOptions& options, const cli::Arguments& arguments)
    : model_(model),
      tokenizer_(tokenizer),
      place_(place),
      end_(end),
      options_(options),
      arguments_(arguments),
      wanted_(options.search.beam > 0 ? options.search.n_best : options.num_samples),
      vocab_size_(generated_tokens(tokenizer)),
      cache_(options.kv_cache == Precision::bf16 ? DType::bfloat16 : DType::real) {
  check<UsageError>(options.search.coverage_penalty == 0 || model.attends_to_source(),
                    "--coverage-penalty: ", arguments.operand("MODEL"),
                    " does not attend to a source; leave out the option, or use a sequence-to-sequence model with "
                    "attention");
  if (!model.caches_keys()) {
    refuse({"kv_cache"}, arguments, ": " + arguments.operand("MODEL") + " is recurrent, and keeps no keys and values");
  }
}

std::vector<TextSearch::Answer> TextSearch::answers(const SearchInputs& inputs, const Watcher& watch) {
  std::vector<Answer> texts = is_beam() ? searched(inputs) : drawn(inputs, watch);
  for (Answer& answer : texts) {
    answer.text.finish();
    watch(answer.text);
  }
  done_ += static_cast<Index>(inputs.prompts.size());
  return texts;
}

std::string TextSearch::json_line_of(const std::string& prompt, const Answer& answer, Index number,
                                     const std::optional<std::string>& filled) const {
  nlohmann::ordered_json object = answer.text.json(prompt);
  if (filled) object["filled"] = *filled;
  if (answer.score) {
    object["rank"] = number;
    object["score"] = *answer.score;
  } else if (wanted_ > 1) {
    object["sample"] = number;
  }
  return json_line(object);
}

std::vector<TextSearch::Answer> TextSearch::drawn(const SearchInputs& inputs, const Watcher& watch) const {
  std::vector<Answer> texts(inputs.prompts.size() * static_cast<std::size_t>(wanted_), Answer{nothing()});
  const decoding::GenerateOptions settings{.sampling = options_.sampling,
                                           .constraints = options_.constraints,
                                           .samples = wanted_,
                                           .max_tokens = *std::ranges::max_element(inputs.max_tokens),
                                           .max_tokens_of = inputs.max_tokens,
                                           .end = end_,
                                           .seed = static_cast<std::uint64_t>(arguments_.common().seed),
                                           .vocab_size = vocab_size_,
                                           .cache = cache_};
  const auto add = [&](Index sequence, const decoding::Choice& token) {
    Continuation& text = texts[static_cast<std::size_t>(sequence - done_ * wanted_)].text;
    const bool more = text.add(token);
    watch(text);
    return more;
  };
  decoding::generate(model_, inputs.prompts, done_, settings, add, inputs.sources);
  return texts;
}

std::vector<TextSearch::Answer> TextSearch::searched(const SearchInputs& inputs) const {
  decoding::BeamOptions settings{.width = options_.search.beam,
                                 .length_penalty = options_.search.length_penalty,
                                 .coverage_penalty = options_.search.coverage_penalty,
                                 .max_tokens = *std::ranges::max_element(inputs.max_tokens),
                                 .max_tokens_of = inputs.max_tokens,
                                 .constraints = options_.constraints,
                                 .end = end_,
                                 .vocab_size = vocab_size_,
                                 .cache = cache_};
  const auto text_of = [this](const std::vector<decoding::Choice>& tokens) {
    std::pair<Continuation, bool> text{nothing(), true};
    for (const decoding::Choice& token : tokens) text.second = text.first.add(token);
    return text;
  };
  if (!options_.stop.empty()) settings.ends_with = [&](const auto& tokens) { return !text_of(tokens).second; };
  std::vector<Answer> texts;
  for (const auto& found : decoding::beam_search(model_, inputs.prompts, done_, settings, inputs.sources)) {
    const auto count = static_cast<Index>(found.size());
    check<DataError>(count >= wanted_, "prompt ", done_ + static_cast<Index>(texts.size()) / wanted_ + 1, ": only ",
                     counted(count, "text is", "texts are"), " allowed, fewer than --n-best ", wanted_,
                     "; lower it, or --no-repeat-ngram-size");
    for (Index n = 0; n < wanted_; ++n) {
      const decoding::FoundText& text = found.at(static_cast<std::size_t>(n));
      texts.push_back({text_of(text.tokens).first, text.score});
    }
  }
  return texts;
}

}  // namespace heddle
