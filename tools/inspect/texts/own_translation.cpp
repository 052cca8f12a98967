#include "tools/inspect/texts/own_translation.hpp"

#include <algorithm>

#include "libcore/decoding/beam_search.hpp"
#include "tools/lines/answer_texts.hpp"

namespace heddle {

std::vector<TokenId> own_translation(const models::Generator& model, const formats::LoadedModel& loaded,
                                     const std::string& path, const TranslationFrames& frames,
                                     const std::vector<TokenId>& source) {
  const Index room = model.position_limit() - static_cast<Index>(frames.prompt.size()) + 1;
  const decoding::BeamOptions greedy{.width = 1,
                                     .max_tokens = std::min(static_cast<Index>(source.size()) + 50, room),
                                     .end = frames.target.end,
                                     .vocab_size = loaded.tokenizer.vocab_size()};
  std::vector<TokenId> ids;
  answer_or_name(path, [&] {
    const auto found = decoding::beam_search(model, {frames.prompt}, 0, greedy, {source});
    for (const decoding::Choice& token : found.front().front().tokens) ids.push_back(token.id);
  });
  if (std::ssize(ids) == room) ids.pop_back();  // the last one of a text without an end is not read
  return ids;
}

}  // namespace heddle
