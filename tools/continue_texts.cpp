#include "continue_texts.hpp"

#include "line_batches.hpp"
#include "refuse.hpp"

namespace heddle {

TextContinuer::TextContinuer(const models::Decoder& model, const text::Tokenizer& tokenizer,
                             const GenerateOptions& options, const cli::Arguments& arguments)
    : model_(model), tokenizer_(tokenizer), options_(options), arguments_(arguments), output_(options.output) {
  refuse({"top"}, arguments, ": is for encoders, which fill in blanks; this model continues texts (see --top-k)");
  if (options.sampling.temperature == 0) {
    refuse({"top_k", "top_p"}, arguments, " has no effect with --temperature 0, which takes the most probable token");
  }
  settings_.sampling = options.sampling;
  settings_.max_tokens = options.max_tokens;
  settings_.end = tokenizer.end_of_text();
  settings_.cache = options.cache == Precision::bf16 ? Element::bfloat16 : Element::real;
  settings_.seed = static_cast<std::uint64_t>(arguments.common().seed);
}

void TextContinuer::one() {
  std::ostream& out = output_.stream();
  if (!options_.jsonl) out << options_.prompt << std::flush;
  std::vector<Continuation> batch;
  batch.push_back(make(options_.prompt, "--prompt"));
  run(batch, [&](const Continuation& text) {
    if (!options_.jsonl) out << text.fresh_text() << std::flush;
  });
  out << (options_.jsonl ? batch[0].json() : std::string()) << "\n";
  output_.close();
}

void TextContinuer::lines(const std::string& file) {
  for_each_line_batch(
      file, options_.batch_size,
      [this](const std::string& prompt, const std::string& where) { return make(prompt, where); },
      [this](std::vector<Continuation>& batch) {
        run(batch, [](const Continuation&) {});
        for (const Continuation& text : batch) output_.stream() << (options_.jsonl ? text.json() : text.line()) << "\n";
        output_.stream().flush();
      });
  output_.close();
  if (truncated_ > 0) arguments_.say(concatenate(truncated_, " prompts were cut to the model's context"));
}

Continuation TextContinuer::make(const std::string& prompt, const std::string& where) {
  std::vector<TokenId> ids = encode(prompt, where);
  const auto context = static_cast<std::size_t>(model_.config().context);
  if (ids.size() > context) {
    check<DataError>(options_.overlong == Overlong::truncate, where, ": the prompt has ", ids.size(),
                     " tokens, more than the context of ", context,
                     "; shorten it, or keep its end with --overlong truncate");
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(context));
    ++truncated_;
  }
  return {tokenizer_, prompt, std::move(ids), options_.stop};
}

// An empty prompt is the beginning of a document.
std::vector<TokenId> TextContinuer::encode(const std::string& prompt, const std::string& where) const {
  if (prompt.empty()) {
    check<DataError>(settings_.end.has_value(), where,
                     ": the prompt is empty, and the model knows no token that "
                     "begins a text; give at least one character");
    return {*settings_.end};
  }
  try {
    return tokenizer_.encode(prompt);
  } catch (const text::TextError& error) {
    throw DataError(concatenate(where, ": ", error.what()));
  }
}

template <class Told>
void TextContinuer::run(std::vector<Continuation>& batch, const Told& told) {
  std::vector<std::vector<TokenId>> prompts;
  for (const Continuation& text : batch) prompts.push_back(text.prompt_ids());
  decoding::generate(model_, prompts, done_, settings_, [&](Index sequence, const decoding::Choice& token) {
    Continuation& text = batch[static_cast<std::size_t>(sequence - done_)];
    const bool more = text.add(token);
    told(text);
    return more;
  });
  for (Continuation& text : batch) {
    text.finish();
    told(text);
  }
  done_ += static_cast<Index>(batch.size());
}

}  // namespace heddle
