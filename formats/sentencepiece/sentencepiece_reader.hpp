// Tokenizers of SentencePiece: models of the algorithms unigram and bpe, with any map of characters.
//
// Read are models whose text is words with spaces before them (add_dummy_prefix and remove_extra_whitespaces, as
// spm_train has them by default) and models of bpe whose text stays as it is (Llama's); pieces within words; control,
// byte and, of unigram, user-defined pieces. Anything else is an error that names it: ids are those of spm_encode, or
// none. Only U+2581 before a user-defined piece that begins with it may count as one space less.
#pragma once

#include <string>
#include <vector>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// The file: a path that ends in .model or .spm or whose file begins as such models do, or spiece.model in a directory.
// Empty where there is none.
std::vector<std::string> sentencepiece_files(const std::string& path);

// Ids are those of the file. Of a directory, with the tokens <extra_id_N> that its tokenizer_config.json adds by
// extra_ids, as T5's have. Throws DataError with the file's name.
text::TokenizerModel read_sentencepiece(const std::string& path);

// Segmentation by the model in a file, for a vocabulary stored elsewhere: a tokenizer with segments and scores, without
// pieces. Control pieces are no segments. Throws DataError with the file's name.
text::TokenizerModel read_segmentation(const std::string& file);

// The spelling (spelling.hpp) of a piece as such files have it.
std::string spelling_of_piece(text::TokenizerKind kind, std::string_view piece);

}  // namespace heddle::formats
