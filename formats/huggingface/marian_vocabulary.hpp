// The tokenizers of Marian's models (OPUS-MT): source.spm and target.spm, SentencePiece's models, cut texts into
// pieces, and vocab.json has their ids, or target_vocab.json those of targets. Pieces without an id are <unk>. Source:
// the published directories; the documentation of Hugging Face's MarianTokenizer.
#pragma once

#include <string>
#include <vector>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// source.spm, target.spm, vocab.json and, where it is, target_vocab.json in a directory; empty unless all others are
// there.
std::vector<std::string> marian_vocabulary_files(const std::string& directory);

// </s> ends texts, <pad> pads, and >>LANGUAGE<< before a source chooses the target's language: special tokens. Throw
// DataError with the file's name.
text::TokenizerModel read_marian_vocabulary(const std::string& directory);  // the targets' vocabulary
text::TokenizerModel read_marian_source(const std::string& directory);

}  // namespace heddle::formats
