#include "tools/generate/continue_texts.hpp"

#include <algorithm>

#include "libcore/base/values.hpp"
#include "tools/cli/refuse_options.hpp"
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
      out_(out),
      search_(model, tokenizer, text::TextPlace::inside, tokenizer.end_of_text(), options, arguments),
      limit_(options.overlong, "prompt") {}

void TextContinuer::refuse_others(const cli::Arguments& arguments) {
  refuse({"top"}, arguments, ": is for models that fill in masks; this one continues texts (see --top-k)");
}

void TextContinuer::answer_one(const Prompt& prompt) {
  if (options_.jsonl || search_.wanted() > 1 || !options_.answer_after.empty()) {
    answer({prompt});
  } else if (search_.is_beam()) {
    const auto best = answers({prompt});
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

std::string TextContinuer::line(const Prompt& prompt, const TextSearch::Answer& answer, Index number) const {
  if (!options_.jsonl) return escaped(prompt.text) + escaped(answer.text.text());
  return search_.json_line_of(prompt.text, answer, number);
}

std::string TextContinuer::line(const Prompt& prompt, const Vote& vote) const {
  if (options_.jsonl) return json_line({{"prompt", prompt.text}, {"answer", vote.answer}, {"share", vote.share}});
  return escaped(vote.answer) + (search_.wanted() > 1 ? "\t" + format(vote.share) : "");
}

std::vector<Vote> TextContinuer::votes(const std::vector<Prompt>& prompts) {
  std::vector<std::optional<std::string>> found;
  for (const TextSearch::Answer& answer : answers(prompts)) {
    found.push_back(answer_in(answer.text.text(), options_.answer_after));
  }
  const auto wanted = static_cast<std::size_t>(search_.wanted());
  std::vector<Vote> votes;
  for (std::size_t i = 0; i < prompts.size(); ++i) votes.push_back(vote(std::span(found).subspan(i * wanted, wanted)));
  without_answer_ += std::ranges::count(votes, 0.0, &Vote::share);
  return votes;
}

void TextContinuer::report() const {
  limit_.report(arguments_);
  if (without_answer_ == 0) return;
  arguments_.say(concatenate(counted(without_answer_, "prompt", "prompts"), " got no answer",
                             options_.answer_after.empty() ? "" : concatenate(" after '", options_.answer_after, "'")));
}

void TextContinuer::answer(const std::vector<Prompt>& prompts) {
  if (!options_.answer_after.empty()) {
    const std::vector<Vote> all = votes(prompts);
    for (std::size_t i = 0; i < prompts.size(); ++i) out_ << line(prompts[i], all[i]) << "\n";
    out_.flush();
    return;
  }
  if (options_.stream) return stream(prompts.front(), [](std::string_view text) { return escaped(text); });
  const auto texts = answers(prompts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto at = static_cast<Index>(i);
    out_ << line(prompts[static_cast<std::size_t>(at / search_.wanted())], texts[i], at % search_.wanted() + 1) << "\n";
  }
  out_.flush();
}

void TextContinuer::stream(const Prompt& prompt, const std::function<std::string(std::string_view)>& spelled) {
  out_ << spelled(prompt.text) << std::flush;
  answers({prompt}, [&](const Continuation& text) { out_ << spelled(text.fresh_text()) << std::flush; });
  out_ << "\n" << std::flush;
}

std::vector<TextSearch::Answer> TextContinuer::answers(const std::vector<Prompt>& prompts,
                                                       const TextSearch::Watcher& watch) {
  const Index by_default = std::max<Index>(256, options_.constraints.min_tokens);
  SearchInputs inputs;
  for (const Prompt& prompt : prompts) inputs.prompts.push_back(prompt.ids);
  inputs.max_tokens.assign(prompts.size(), options_.max_tokens > 0 ? options_.max_tokens : by_default);
  return search_.answers(inputs, watch);
}

}  // namespace heddle
