#include "tools/lines/scored_text.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "tools/lines/blank_text.hpp"
#include "tools/lines/encode_line.hpp"

namespace heddle {

namespace {

// Bytes of the text that its first tokens stand for; if the tokenizer changes texts so that tokens have no offsets in
// them, the bytes that the tokens decode to.
Index bytes_of_first(const text::Tokenizer& tokenizer, const ScoredText& text, Index count) {
  const auto tokens = static_cast<std::size_t>(count);
  if (count == 0) return 0;
  if (tokens == text.ids.size()) return static_cast<Index>(text.text.size());
  try {
    std::size_t number = 0, end = 0;
    tokenizer.locate(text.text, text.ids, text::SpecialText::token, [&](const text::LocatedToken& token) {
      if (++number == tokens) end = token.end;
    });
    return static_cast<Index>(end);
  } catch (const DataError&) {
    return static_cast<Index>(tokenizer.decode(std::span(text.ids).first(tokens)).size());
  }
}

std::vector<TokenId> ids_within(const text::Tokenizer& tokenizer, const std::string& text, Index room,
                                const InputText& input, LengthLimit& limit) {
  std::vector<TokenId> ids = BlankText(tokenizer, text, noise_marks(tokenizer)).encode(input.where());
  if (limit.is_exceeded(static_cast<Index>(ids.size()), room, input.where(), "cut it with --overlong truncate")) {
    ids.resize(static_cast<std::size_t>(room));
  }
  return ids;
}

}  // namespace

ScoredText scored_text(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const InputText& input,
                       LengthLimit& limit) {
  ScoredText text{input.text, encode_line(tokenizer, input.text, input.where()), {}, 0};
  const std::optional<TokenId> begin = tokenizer.end_of_text();
  const auto size = static_cast<Index>(text.ids.size()), room = decoding::score_limit(model) - (begin ? 1 : 0);
  const bool is_long = limit.is_exceeded(size, room, input.where(),
                                         "cut it with --overlong truncate, or read it in parts with --overlong split");
  const Index end = is_long && !limit.splits() ? room : size;
  text.bytes = bytes_of_first(tokenizer, text, end);
  text.ids.resize(static_cast<std::size_t>(end));
  decoding::Tokens ids = text.ids;
  if (begin) ids.insert(ids.begin(), *begin);
  text.parts = decoding::scored_parts(model, ids);
  return text;
}

ScoredPair scored_pair(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                       const TranslationFrames& frames, const InputText& input, LengthLimit& limit) {
  const std::size_t tab = input.text.find('\t');
  check<DataError>(tab != std::string::npos && input.text.find('\t', tab + 1) == std::string::npos, input.where(),
                   ": is not SOURCE, tab, TARGET; this model scores such pairs (paste source.txt target.txt)");
  ScoredPair pair{input.text.substr(0, tab), input.text.substr(tab + 1), {}};
  const Index most_source = model.max_source_positions().value_or(std::numeric_limits<Index>::max());
  const auto source = ids_within(loaded.of_sources(), pair.source, most_source - frames.source.tokens(), input, limit);
  const auto prompt = static_cast<Index>(frames.prompt.size());
  const auto target = ids_within(loaded.tokenizer, pair.target, model.position_limit() - prompt, input, limit);
  pair.tokens = {frames.prompt, prompt, frames.source.around(source)};
  pair.tokens.ids.insert(pair.tokens.ids.end(), target.begin(), target.end());
  pair.tokens.ids.push_back(frames.target.end);
  return pair;
}

}  // namespace heddle
