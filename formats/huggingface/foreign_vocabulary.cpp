#include "formats/huggingface/foreign_vocabulary.hpp"

#include <algorithm>

#include "formats/huggingface/gpt2_vocabulary.hpp"
#include "formats/huggingface/marian_vocabulary.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "formats/huggingface/wordpiece_vocabulary.hpp"
#include "formats/sentencepiece/sentencepiece_reader.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

// If a directory holds several, the first is used.
const std::vector<ForeignVocabulary>& vocabularies() {
  static const std::vector<ForeignVocabulary> list{
      {.name = "Hugging Face's tokenizer",
       .recognised = "tokenizer.json or another JSON file, or a directory that holds tokenizer.json",
       .files = tokenizer_json_files,
       .read = read_tokenizer_json},
      {.name = "BERT's vocabulary",
       .recognised = "vocab.txt or another .txt file, or a directory that holds vocab.txt",
       .files = wordpiece_vocabulary_files,
       .read = read_wordpiece_vocabulary,
       .classes = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "RetriBertTokenizer",
                   "MobileBertTokenizer", "DPRQuestionEncoderTokenizer", "DPRContextEncoderTokenizer",
                   "LayoutLMTokenizer", "SqueezeBertTokenizer", "ConvBertTokenizer"}},
      {.name = "GPT-2's vocabulary",
       .recognised = "a directory with vocab.json and merges.txt, or encoder.json and vocab.bpe",
       .files = gpt2_vocabulary_files,
       .read = read_gpt2_vocabulary,
       .classes = {"GPT2Tokenizer", "RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer"}},
      {.name = "Marian's vocabulary",
       .recognised = "a directory with source.spm, target.spm and vocab.json",
       .files = marian_vocabulary_files,
       .read = read_marian_vocabulary,
       .read_source = read_marian_source,
       .classes = {"MarianTokenizer"}},
      {.name = "SentencePiece's model",
       .recognised = "a .model or .spm file, or a directory that holds spiece.model",
       .files = sentencepiece_files,
       .read = read_sentencepiece,
       .classes = {"T5Tokenizer", "MT5Tokenizer", "LlamaTokenizer", "CodeLlamaTokenizer"}},
  };
  return list;
}

}  // namespace

const ForeignVocabulary* find_foreign_vocabulary(const std::string& path) {
  const auto found = std::ranges::find_if(vocabularies(),
                                          [&](const ForeignVocabulary& format) { return !format.files(path).empty(); });
  return found == vocabularies().end() ? nullptr : &*found;
}

std::string foreign_vocabularies() {
  std::vector<std::string> list;
  for (const ForeignVocabulary& format : vocabularies()) {
    list.push_back(concatenate(format.name, " (", format.recognised, ")"));
  }
  return join(list, ", ");
}

}  // namespace heddle::formats
