// Texts, and pairs of texts, as models score them.
#pragma once

#include <string>
#include <vector>

#include "libcore/decoding/score.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/lines/input_texts.hpp"
#include "tools/lines/length_limit.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

struct ScoredText {
  std::string text;
  decoding::Tokens ids;                      // excludes the tokens of a text that was truncated
  std::vector<decoding::GivenTokens> parts;  // score its tokens in order
  Index bytes;                               // length of the text, up to its truncation
};

// The token before the first one is the tokenizer's token that begins texts, if it has one; else the first token is not
// scored. Throws DataError for text without tokens in the vocabulary, and as the limit does.
ScoredText scored_text(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const InputText& input,
                       LengthLimit& limit);

struct ScoredPair {
  std::string source, target;
  decoding::GivenTokens tokens;  // the target's, with the token that ends it
};

// Reads a line SOURCE, tab, TARGET. Throws DataError for a line that is none, and for texts longer than the context.
ScoredPair scored_pair(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                       const TranslationFrames& frames, const InputText& input, LengthLimit& limit);

}  // namespace heddle
