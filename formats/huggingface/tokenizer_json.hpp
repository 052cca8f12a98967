// Hugging Face's tokenizer.json: normaliser, pre-tokeniser, model, post-processor, decoder and added tokens in one JSON
// document. Read are
//   BPE of bytes     ByteLevel, after normalisers and pre-tokenisers that the headers of text::Normaliser and
//   text::Cuts
//                    list, and before Digits and Split as Falcon has them
//   BPE with bytes   Prepend and Replace as Llama's, Phi-3's and Gemma's have them, byte_fallback
//   WordPiece        BertNormalizer and BertPreTokenizer, or any of those lists
//   Unigram          Precompiled or no normaliser, WhitespaceSplit and Metaspace as T5 has them, or any of those lists
// and what write_tokenizer_json() writes. Anything else is an error that names it: ids are those of the file, or none.
// Source: the documentation and files of Hugging Face's tokenizers, version 0.15 and before.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/json/node.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// The file: a path that ends in .json or whose file begins as JSON does, or tokenizer.json in a directory. Empty where
// there is none.
std::vector<std::string> tokenizer_json_files(const std::string& path);

// Special tokens have their roles by their text ([MASK], <mask>, [PAD], <pad>, <|endoftext|>, </s>), by the model's
// unk_token and, for those before and after a text, by the post-processor. Throws DataError with the file's name.
text::TokenizerModel read_tokenizer_json(const std::string& path);

// The document that stands for a tokenizer, and the same as a file. Throws DataError for the kinds byte, char and word,
// and for models that have two tokens of one spelling.
nlohmann::ordered_json to_tokenizer_json(const text::TokenizerModel& model);
void write_tokenizer_json(const std::string& path, const text::TokenizerModel& model);

namespace tokenizer_json {

// Steps of the normaliser and the pre-tokeniser. Names of steps:
//   normalisers: bert, charsmap, european-accents, final-sigma, and Normaliser's names
//   pre-tokenisers: bert, metaspace, byte-level, and Cuts' names
struct TextSteps {
  std::vector<std::string> normalisers, pretokenisers;
  // Settings of bert.
  bool cleans = true, spaces_chinese = true, lowercase = false, strip_accents = false;
  std::string charsmap;
};
// The steps of Normaliser that BertNormalizer stands for.
std::vector<std::string> bert_normalisers(const TextSteps& steps);
// The Cuts that BertPreTokenizer stands for.
inline std::vector<std::string> bert_cuts() {
  return {"white-space", "punctuation-marks"};
}
TextSteps read_text_steps(const JsonNode& document);

// The tokens before, between and after texts.
struct Frame {
  Index classification = -1, separator = -1, pair_separators = 1;
};
// Templates that a Frame cannot express. Only models that predict masked tokens read texts in frames; for other models
// heddle adds no tokens around a text.
enum class OtherFrames { refused, ignored };
Frame read_frame(const JsonNode& post_processor, OtherFrames others);

// The pattern that cuts text as GPT-2 does.
inline constexpr const char* gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// The same with marks in the words of their letters, as gpt2-marks has it.
inline constexpr const char* gpt2_marks_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}[\p{L}\p{M}]*| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr const char* digit_triples_pattern = "[0-9][0-9][0-9]";

// Steps of Normaliser: a mark of a space before a text, and one for each space.
inline constexpr const char* prepend_mark = "prepend\t\u2581";
inline constexpr const char* mark_spaces = "replace\t \t\u2581";

// Names of text::Matches in the file.
struct SplitBehaviour {
  const char* name;
  const char* word;
};
inline constexpr SplitBehaviour split_behaviours[] = {{"Isolated", "isolated"},
                                                      {"Removed", "removed"},
                                                      {"Contiguous", "contiguous"},
                                                      {"MergedWithPrevious", "with-previous"},
                                                      {"MergedWithNext", "with-next"}};
// Normalisers and pre-tokenisers without settings, and their steps.
struct PlainStep {
  const char* type;
  const char* step;
};
inline constexpr PlainStep plain_normalisers[] = {{"NFC", "nfc"},
                                                  {"NFD", "nfd"},
                                                  {"NFKC", "nfkc"},
                                                  {"NFKD", "nfkd"},
                                                  {"Lowercase", "lowercase"},
                                                  {"StripAccents", "strip-marks"}};
inline constexpr PlainStep plain_pretokenisers[] = {
    {"BertPreTokenizer", "bert"}, {"WhitespaceSplit", "white-space"}, {"Whitespace", "words"}};

// Pattern that text::EuropeanAccents removes between NFD and NFC, and the sigma that text::LowerCase calls final.
inline constexpr const char* european_accents_pattern = R"((?<=[\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+)";
inline constexpr const char* final_sigma_pattern =
    R"((?<=[\p{Lu}\p{Ll}\p{Lt}\p{M}])\x{3A3}(?!\p{M}*[\p{Lu}\p{Ll}\p{Lt}]))";
inline constexpr const char* final_sigma = "\u03C2";

}  // namespace tokenizer_json

}  // namespace heddle::formats
