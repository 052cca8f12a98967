#include "tools/generate/continue_texts.hpp"

#include "heddle/cli/refuse.hpp"
#include "heddle/decoding/beam_search.hpp"
#include "heddle/decoding/generate.hpp"
#include "tools/lines/batches.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

TextContinuer::TextContinuer(const models::Generator& model, const text::Tokenizer& tokenizer,
                             const GenerateOptions& options, const cli::Arguments& arguments)
    : model_(model),
      tokenizer_(tokenizer),
      options_(options),
      arguments_(arguments),
      wanted_(options.search.beam > 0 ? options.search.n_best : options.num_samples),
      cache_(options.kv_cache == Precision::bf16 ? DType::bfloat16 : DType::real),
      output_(options.output) {
  refuse({"top"}, arguments, ": is for models that fill in blanks; this one continues texts (see --top-k)");
  const Index vocab = tokenizer.vocab_size();
  check<UsageError>(options.search.beam <= vocab, "--beam ", options.search.beam, " is more than the ", vocab,
                    " tokens there are; lower it");
}

void TextContinuer::one() {
  const Prompt prompt = make(options_.prompt, "--prompt");
  if (options_.jsonl || wanted_ > 1) {
    write({prompt});
  } else if (options_.search.beam > 0) {
    const std::vector<Answer> best = answers({prompt}, [](const Continuation&) {});
    output_.stream() << prompt.text << best.front().text.text() << "\n";
  } else {
    stream(prompt, [](std::string_view text) { return std::string(text); });
  }
  finish();
}

void TextContinuer::lines(const std::string& file) {
  const auto make_prompt = [this](const std::string& text, const std::string& where) { return make(text, where); };
  if (options_.stream) {
    for_each_line_batch(arguments_.open_text(file), 1, make_prompt, [this](const std::vector<Prompt>& line) {
      stream(line.front(), [](std::string_view text) { return escaped(text); });
    });
  } else {
    for_each_line_batch(arguments_.open_text(file), options_.batch_size, make_prompt,
                        [this](const std::vector<Prompt>& batch) { write(batch); });
  }
  finish();
}

void TextContinuer::finish() {
  output_.close();
  if (truncated_ > 0) arguments_.say(counted(truncated_, "prompt was", "prompts were") + " cut to the model's context");
}

TextContinuer::Prompt TextContinuer::make(const std::string& text, const std::string& where) {
  std::vector<TokenId> ids = encode(text, where);
  const auto context = static_cast<std::size_t>(model_.position_limit());
  if (ids.size() > context) {
    check<DataError>(options_.overlong == data::Overlong::truncate, where, ": the prompt has ", ids.size(),
                     " tokens, more than the context of ", context,
                     "; shorten it, or keep its end with --overlong truncate");
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(context));
    ++truncated_;
  }
  return {text, std::move(ids)};
}

// An empty prompt is the beginning of a document.
std::vector<TokenId> TextContinuer::encode(const std::string& prompt, const std::string& where) const {
  if (!prompt.empty()) return encode_line(tokenizer_, prompt, where);
  check<DataError>(tokenizer_.end_of_text().has_value(), where,
                   ": the prompt is empty, and the model knows no token that "
                   "begins a text; give at least one character");
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

void TextContinuer::write(const std::vector<Prompt>& prompts) {
  const std::vector<Answer> texts = answers(prompts, [](const Continuation&) {});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto at = static_cast<Index>(i);
    output_.stream() << line(prompts[static_cast<std::size_t>(at / wanted_)], texts[i], at % wanted_ + 1) << "\n";
  }
  output_.stream().flush();
}

void TextContinuer::stream(const Prompt& prompt, const std::function<std::string(std::string_view)>& spelled) {
  std::ostream& out = output_.stream();
  out << spelled(prompt.text) << std::flush;
  answers({prompt}, [&](const Continuation& text) { out << spelled(text.fresh_text()) << std::flush; });
  out << "\n" << std::flush;
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
  std::vector<Answer> texts(prompts.size() * static_cast<std::size_t>(wanted_),
                            Answer{Continuation(tokenizer_, options_.stop)});
  const decoding::GenerateOptions settings{.sampling = options_.sampling,
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
                                 .end = tokenizer_.end_of_text(),
                                 .vocab_size = tokenizer_.vocab_size(),
                                 .cache = cache_};
  const auto text_of = [this](const std::vector<decoding::Choice>& tokens) {
    std::pair<Continuation, bool> text{Continuation(tokenizer_, options_.stop), true};
    for (const decoding::Choice& token : tokens) text.second = text.first.add(token);
    return text;
  };
  if (!options_.stop.empty()) settings.ends_with = [&](const auto& tokens) { return !text_of(tokens).second; };
  std::vector<Answer> texts;
  for (const auto& found : decoding::beam_search(model_, prompts, done_, settings)) {
    for (Index n = 0; n < wanted_; ++n) {
      const decoding::FoundText& text = found.at(static_cast<std::size_t>(n));
      texts.push_back({text_of(text.tokens).first, text.score});
    }
  }
  return texts;
}

}  // namespace heddle
