#include "formats/huggingface/foreign_vocabulary.hpp"

#include <algorithm>
#include <array>

#include "formats/huggingface/gpt2_vocabulary.hpp"
#include "formats/huggingface/marian_vocabulary.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "formats/huggingface/wordpiece_vocabulary.hpp"
#include "formats/sentencepiece/sentencepiece_reader.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

// If a directory holds several, the first is used.
constexpr std::array vocabularies{
    ForeignVocabulary{"Hugging Face's tokenizer",
                      "tokenizer.json or another JSON file, or a directory that holds tokenizer.json",
                      tokenizer_json_files, read_tokenizer_json},
    ForeignVocabulary{"BERT's vocabulary", "vocab.txt or another .txt file, or a directory that holds vocab.txt",
                      wordpiece_vocabulary_files, read_wordpiece_vocabulary},
    ForeignVocabulary{"GPT-2's vocabulary", "a directory with vocab.json and merges.txt, or encoder.json and vocab.bpe",
                      gpt2_vocabulary_files, read_gpt2_vocabulary},
    ForeignVocabulary{"Marian's vocabulary", "a directory with source.spm, target.spm and vocab.json",
                      marian_vocabulary_files, read_marian_vocabulary, read_marian_source},
    ForeignVocabulary{"SentencePiece's model", "a .model or .spm file, or a directory that holds spiece.model",
                      sentencepiece_files, read_sentencepiece},
};

}  // namespace

const ForeignVocabulary* find_foreign_vocabulary(const std::string& path) {
  const auto found =
      std::ranges::find_if(vocabularies, [&](const ForeignVocabulary& format) { return !format.files(path).empty(); });
  return found == vocabularies.end() ? nullptr : &*found;
}

std::string foreign_vocabularies() {
  std::vector<std::string> list;
  for (const ForeignVocabulary& format : vocabularies) {
    list.push_back(concatenate(format.name, " (", format.recognised, ")"));
  }
  return join(list, ", ");
}

}  // namespace heddle::formats
