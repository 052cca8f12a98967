#include "tools/generate/continue_texts.hpp"

#include "heddle/cli/refuse.hpp"
#include "heddle/decoding/beam_search.hpp"
#include "heddle/decoding/generate.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

TextContinuer::TextContinuer(const models::Generator& model, const text::Tokenizer& tokenizer,
                             const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out)
    : model_(model),
      tokenizer_(tokenizer),
      options_(options),
      arguments_(arguments),
      wanted_(options.search.beam > 0 ? options.search.n_best : options.num_samples),
      cache_(options.kv_cache == Precision::bf16 ? DType::bfloat16 : DType::real),
      out_(out),
      limit_(options.overlong, "prompt") {
  refuse({"top"}, arguments, ": is for models that fill in masks; this one continues texts (see --top-k)");
  const Index vocab = tokenizer.vocab_size();
  check<UsageError>(options.search.beam <= vocab, "--beam ", options.search.beam, " is more than the ", vocab,
                    " tokens there are; lower it");
}

void TextContinuer::answer_one(const Prompt& prompt) {
  if (options_.jsonl || wanted_ > 1) {
    answer({prompt});
  } else if (options_.search.beam > 0) {
    const std::vector<Answer> best = answers({prompt}, [](const Continuation&) {});
    out_ << prompt.text << best.front().text.text() << "\n";
  } else {
    stream(prompt, [](std::string_view text) { return std::string(text); });
  }
}

TextContinuer::Prompt TextContinuer::make(const InputText& input) {
  std::vector<TokenId> ids = encode(input);
  const auto size = static_cast<Index>(ids.size()), room = model_.position_limit();
  if (limit_.is_exceeded(size, room, input.where(), "shorten it, or keep its end with --overlong truncate")) {
    ids.erase(ids.begin(), ids.end() - room);
  }
  return {input.text, std::move(ids)};
}

// An empty prompt starts a document.
std::vector<TokenId> TextContinuer::encode(const InputText& prompt) const {
  if (!prompt.text.empty()) return encode_line(tokenizer_, prompt.text, prompt.where());
  check<DataError>(tokenizer_.end_of_text().has_value(), prompt.where(),
                   ": the prompt is empty, and the model has no token that begins a text; give at least one character");
  return {*tokenizer_.end_of_text()};
}

std::string TextContinuer::line(const Prompt& prompt, const Answer& answer, Index number) const {
  if (!options_.jsonl) return escaped(prompt.text) + escaped(answer.text.text());
  nlohmann::ordered_json object = answer.text.json(prompt.text);
  if (answer.score) {
    object["rank"] = number;
    object["score"] = *answer.score;
  } else if (wanted_ > 1) {
    object["sample"] = number;
  }
  return json_line(object);
}

void TextContinuer::answer(const std::vector<Prompt>& prompts) {
  if (options_.stream) return stream(prompts.front(), [](std::string_view text) { return escaped(text); });
  const std::vector<Answer> texts = answers(prompts, [](const Continuation&) {});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto at = static_cast<Index>(i);
    out_ << line(prompts[static_cast<std::size_t>(at / wanted_)], texts[i], at % wanted_ + 1) << "\n";
  }
  out_.flush();
}

void TextContinuer::stream(const Prompt& prompt, const std::function<std::string(std::string_view)>& spelled) {
  out_ << spelled(prompt.text) << std::flush;
  answers({prompt}, [&](const Continuation& text) { out_ << spelled(text.fresh_text()) << std::flush; });
  out_ << "\n" << std::flush;
}

std::vector<TextContinuer::Answer> TextContinuer::answers(const std::vector<Prompt>& prompts, const Watcher& watch) {
  std::vector<std::vector<TokenId>> ids;
  for (const Prompt& prompt : prompts) ids.push_back(prompt.ids);
  std::vector<Answer> texts = options_.search.beam > 0 ? searched(ids) : drawn(ids, watch);
  for (Answer& answer : texts) {
    answer.text.finish();
    watch(answer.text);
  }
  done_ += static_cast<Index>(prompts.size());
  return texts;
}

std::vector<TextContinuer::Answer> TextContinuer::drawn(const std::vector<std::vector<TokenId>>& prompts,
                                                        const Watcher& watch) const {
  const Continuation nothing(tokenizer_, options_.stop, options_.constraints.min_tokens);
  std::vector<Answer> texts(prompts.size() * static_cast<std::size_t>(wanted_), Answer{nothing});
  const decoding::GenerateOptions settings{.sampling = options_.sampling,
                                           .constraints = options_.constraints,
                                           .samples = wanted_,
                                           .max_tokens = options_.max_tokens,
                                           .end = tokenizer_.end_of_text(),
                                           .seed = static_cast<std::uint64_t>(arguments_.common().seed),
                                           .vocab_size = tokenizer_.vocab_size(),
                                           .cache = cache_};
  decoding::generate(model_, prompts, done_, settings, [&](Index sequence, const decoding::Choice& token) {
    Continuation& text = texts[static_cast<std::size_t>(sequence - done_ * wanted_)].text;
    const bool more = text.add(token);
    watch(text);
    return more;
  });
  return texts;
}

std::vector<TextContinuer::Answer> TextContinuer::searched(const std::vector<std::vector<TokenId>>& prompts) const {
  decoding::BeamOptions settings{.width = options_.search.beam,
                                 .length_penalty = options_.search.length_penalty,
                                 .max_tokens = options_.max_tokens,
                                 .constraints = options_.constraints,
                                 .end = tokenizer_.end_of_text(),
                                 .vocab_size = tokenizer_.vocab_size(),
                                 .cache = cache_};
  const auto text_of = [this](const std::vector<decoding::Choice>& tokens) {
    std::pair<Continuation, bool> text{Continuation(tokenizer_, options_.stop, options_.constraints.min_tokens), true};
    for (const decoding::Choice& token : tokens) text.second = text.first.add(token);
    return text;
  };
  if (!options_.stop.empty()) settings.ends_with = [&](const auto& tokens) { return !text_of(tokens).second; };
  std::vector<Answer> texts;
  for (const auto& found : decoding::beam_search(model_, prompts, done_, settings)) {
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
