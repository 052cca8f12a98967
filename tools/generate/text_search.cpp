#include "tools/generate/text_search.hpp"

#include <algorithm>
#include <numeric>

#include "libcore/decoding/beam_search.hpp"
#include "libcore/decoding/generate.hpp"
#include "libcore/parallel/divided.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

// Padding is no text. Where it is the last token, as in Marian's models, it is left out.
Index generated_tokens(const text::Tokenizer& tokenizer) {
  const Index vocab = tokenizer.vocab_size();
  return tokenizer.padding() == static_cast<TokenId>(vocab - 1) ? vocab - 1 : vocab;
}

SearchInputs part_of(const SearchInputs& inputs, const parallel::Range& range) {
  const auto some = [&](const auto& all) {
    using All = std::remove_cvref_t<decltype(all)>;
    return all.empty() ? All() : All(all.begin() + range.begin, all.begin() + range.end);
  };
  return {some(inputs.prompts), some(inputs.sources), some(inputs.max_tokens)};
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
  const parallel::Group& group = parallel::dividing();
  // The last part, which is never empty, is that of the first rank, whose watcher writes a text as it grows.
  const int part_number = group.size() - 1 - group.rank();
  const parallel::Range own = parallel::part_of(std::ssize(inputs.prompts), part_number, group.size());
  std::vector<Found> texts(inputs.prompts.size() * static_cast<std::size_t>(wanted_));
  std::vector<std::size_t> places(static_cast<std::size_t>(own.count() * wanted_));
  std::iota(places.begin(), places.end(), static_cast<std::size_t>(own.begin * wanted_));
  parallel::complete(group, texts, places, [&] {
    if (places.empty()) return;
    const std::span<Found> some = std::span(texts).subspan(places.front(), places.size());
    const SearchInputs part = part_of(inputs, own);
    is_beam() ? search(part, done_ + own.begin, some) : draw(part, done_ + own.begin, watch, some);
  });
  done_ += static_cast<Index>(inputs.prompts.size());
  std::vector<Answer> answers;
  for (const Found& text : texts) answers.push_back(answer_of(text));
  return answers;
}

TextSearch::Answer TextSearch::answer_of(const Found& text) const {
  Answer answer{nothing()};
  for (const decoding::Choice& token : text.tokens) answer.text.add(token);
  answer.text.finish();
  if (is_beam()) answer.score = text.score;
  return answer;
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

void TextSearch::draw(const SearchInputs& inputs, Index first, const Watcher& watch, std::span<Found> texts) const {
  const decoding::GenerateOptions settings{.sampling = options_.sampling,
                                           .constraints = options_.constraints,
                                           .samples = wanted_,
                                           .max_tokens = *std::ranges::max_element(inputs.max_tokens),
                                           .max_tokens_of = inputs.max_tokens,
                                           .end = end_,
                                           .seed = static_cast<std::uint64_t>(arguments_.common().seed),
                                           .vocab_size = vocab_size_,
                                           .cache = cache_};
  std::vector<Continuation> written(texts.size(), nothing());
  const auto add = [&](Index sequence, const decoding::Choice& token) {
    const auto at = static_cast<std::size_t>(sequence - first * wanted_);
    texts[at].tokens.push_back(token);
    const bool more = written[at].add(token);
    watch(written[at]);
    return more;
  };
  decoding::generate(model_, inputs.prompts, first, settings, add, inputs.sources);
  for (Continuation& text : written) {
    text.finish();
    watch(text);
  }
}

void TextSearch::search(const SearchInputs& inputs, Index first, std::span<Found> texts) const {
  decoding::BeamOptions settings{.width = options_.search.beam,
                                 .length_penalty = options_.search.length_penalty,
                                 .coverage_penalty = options_.search.coverage_penalty,
                                 .max_tokens = *std::ranges::max_element(inputs.max_tokens),
                                 .max_tokens_of = inputs.max_tokens,
                                 .constraints = options_.constraints,
                                 .end = end_,
                                 .vocab_size = vocab_size_,
                                 .cache = cache_};
  const auto goes_on = [this](const std::vector<decoding::Choice>& tokens) {
    Continuation text = nothing();
    bool more = true;
    for (const decoding::Choice& token : tokens) more = text.add(token);
    return more;
  };
  if (!options_.stop.empty()) settings.ends_with = [&](const auto& tokens) { return !goes_on(tokens); };
  auto next = texts.begin();
  Index prompt = first;
  for (auto& found : decoding::beam_search(model_, inputs.prompts, first, settings, inputs.sources)) {
    const auto count = static_cast<Index>(found.size());
    ++prompt;
    check<DataError>(count >= wanted_, "prompt ", prompt, ": only ", counted(count, "text is", "texts are"),
                     " allowed, fewer than --n-best ", wanted_, "; lower it, or --no-repeat-ngram-size");
    for (Index n = 0; n < wanted_; ++n) {
      decoding::FoundText& text = found.at(static_cast<std::size_t>(n));
      *next++ = {std::move(text.tokens), text.score};
    }
  }
}

}  // namespace heddle
