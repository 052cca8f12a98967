#include "tools/generate/translate_texts.hpp"

#include <algorithm>
#include <limits>

#include "libcore/text/sentinels.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

constexpr Index more_than_source = 50;  // tokens (Vaswani et al. 2017, 6.1)

}  // namespace

TextTranslator::TextTranslator(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                               const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out)
    : model_(model),
      tokenizer_(loaded.of_sources()),
      marks_(noise_marks(tokenizer_)),
      sentinels_(loaded.source_tokenizer ? std::vector<TokenId>() : text::sentinels_of(tokenizer_)),
      frames_(model, loaded),
      options_(greedy_unless_sampled(options, arguments)),
      arguments_(arguments),
      out_(out),
      search_(models::require<models::Generator>(*loaded.model, "generate", arguments.operand("MODEL")),
              loaded.tokenizer, text::TextPlace::begin, frames_.target.end, options_, arguments),
      limit_(options.overlong, "source") {
  refuse({"top"}, arguments, ": is for models that fill in masks; this one translates texts (see --top-k)");
  refuse({"stream", "answer_after"}, arguments, ": is for models that continue texts; this one translates them");
  check<UsageError>(options.constraints.min_tokens <= room(), "--min-tokens ", options.constraints.min_tokens,
                    " is more than the ", room(), " tokens that the model can write; lower it");
}

// The last token is not read.
Index TextTranslator::room() const {
  return std::max<Index>(1, model_.position_limit() - static_cast<Index>(frames_.prompt.size()) + 1);
}

TextTranslator::Source TextTranslator::make(const InputText& input) {
  BlankText text(tokenizer_, input.text, marks_);
  std::vector<TokenId> ids = text.encode(input.where());
  const Index room =
      model_.max_source_positions().value_or(std::numeric_limits<Index>::max()) - frames_.source.tokens();
  if (limit_.is_exceeded(static_cast<Index>(ids.size()), room, input.where(),
                         "shorten it, or keep its beginning with --overlong truncate")) {
    ids.resize(static_cast<std::size_t>(room));
  }
  return {std::move(text), frames_.source.around(ids)};
}

std::optional<std::string> TextTranslator::filled(const Source& source, const Continuation& text) const {
  const auto has_blank = [&](TokenId sentinel) { return source.text.has(sentinel); };
  if (std::ranges::none_of(sentinels_, has_blank)) return std::nullopt;
  return source.text.filled(source.text.listed_by(text.ids()));
}

Index TextTranslator::max_tokens(const Source& source) const {
  const Index by_default =
      std::max(static_cast<Index>(source.ids.size()) + more_than_source, options_.constraints.min_tokens);
  return std::min(options_.max_tokens > 0 ? options_.max_tokens : by_default, room());
}

std::vector<TextSearch::Answer> TextTranslator::search(const std::vector<Source>& sources) {
  SearchInputs inputs;
  for (const Source& source : sources) {
    inputs.prompts.push_back(frames_.prompt);
    inputs.sources.push_back(source.ids);
    inputs.max_tokens.push_back(max_tokens(source));
  }
  return search_.answers(inputs);
}

std::vector<std::vector<std::string>> TextTranslator::candidates(const std::vector<Source>& sources) {
  std::vector<std::vector<std::string>> candidates(sources.size());
  const auto texts = search(sources);
  for (std::size_t i = 0; i < texts.size(); ++i)
    candidates[i / static_cast<std::size_t>(search_.wanted())].push_back(texts[i].text.text());
  return candidates;
}

std::vector<std::string> TextTranslator::answer(const std::vector<Source>& sources) {
  const auto texts = search(sources);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const Source& source = sources[static_cast<std::size_t>(at / search_.wanted())];
    const TextSearch::Answer answer =
        text::is_blank(source.text.text()) ? TextSearch::Answer{search_.nothing(), texts[i].score} : texts[i];
    const std::optional<std::string> with_blanks_filled = filled(source, answer.text);
    const std::string line = escaped(with_blanks_filled.value_or(answer.text.text()));
    if (at % search_.wanted() == 0) first.push_back(with_blanks_filled.value_or(answer.text.text()));
    out_ << (options_.jsonl
                 ? search_.json_line_of(source.text.text(), answer, at % search_.wanted() + 1, with_blanks_filled)
                 : line)
         << "\n";
  }
  out_.flush();
  return first;
}

}  // namespace heddle
