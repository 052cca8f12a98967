// Tokenizers of other programs. A new format is a file that reads it, and a line in foreign_vocabulary.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

struct ForeignVocabulary {
  std::string_view name;        // "BERT's vocabulary"
  std::string_view recognised;  // by what: "vocab.txt, or a directory that holds it"
  // The files that a path stands for; empty where it is not of this format. Looks at names, and
  // at a file's beginning.
  std::vector<std::string> (*files)(const std::string& path);
  // Throws DataError with the file's name.
  text::TokenizerModel (*read)(const std::string& path);
  // The tokenizer of sources, where it is another one; read is of targets then.
  text::TokenizerModel (*read_source)(const std::string& path) = nullptr;
  // The tokenizer classes, without "Fast", whose files these are; empty where the file says itself how text is cut.
  std::vector<std::string_view> classes{};
};

// The format of a path, or null.
const ForeignVocabulary* find_foreign_vocabulary(const std::string& path);

// "Hugging Face's tokenizer.json (…), BERT's vocabulary (…), …", for messages.
std::string foreign_vocabularies();

}  // namespace heddle::formats
