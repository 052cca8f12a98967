// A tokenizer as plain data, as files store it and training makes it. Vocabulary checks it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::text {

enum class TokenizerKind {
  bpe,        // pre-tokens of bytes, merged pair by pair
  byte,       // a byte per token
  character,  // a character per token
  word,       // a pre-token per token
  wordpiece,  // words of BERT's basic tokenisation, the longest pieces first
  unigram,    // pieces with probabilities, the most probable ones together
  char_bpe    // characters merged pair by pair, as SentencePiece does; read from other programs' files, not trained
};

}  // namespace heddle::text

template <>
struct heddle::Names<heddle::text::TokenizerKind> {
  static constexpr std::pair<text::TokenizerKind, std::string_view> list[] = {
      {text::TokenizerKind::bpe, "bpe"},
      {text::TokenizerKind::byte, "byte"},
      {text::TokenizerKind::character, "char"},
      {text::TokenizerKind::word, "word"},
      {text::TokenizerKind::wordpiece, "wordpiece"},
      {text::TokenizerKind::unigram, "unigram"},
      {text::TokenizerKind::char_bpe, "char-bpe"}};
};

namespace heddle::text {

struct TokenizerModel {
  TokenizerKind kind = TokenizerKind::byte;
  std::vector<std::string> pieces;  // spelled as spelling.hpp says; special and added tokens as they are
  std::vector<Index> merges;
  std::vector<double> scores;         // scores of segments if there are any, else of pieces
  std::vector<std::string> segments;  // spelled like pieces
  std::vector<Index> special_tokens;
  std::vector<Index> added_tokens;
  std::vector<Index> strip_left, strip_right;
  std::vector<Index> single_words, normalised_tokens;
  Index unknown = -1;
  Index end_of_text = -1;
  Index classification = -1, separator = -1, mask = -1, padding = -1;
  Index pair_separators = 1;
  bool lowercase = false, strip_accents = false;
  bool european_accents = false, final_sigma = false;
  std::vector<std::string> normalisers;
  std::vector<std::string> cuts;
  bool whole_words = false;
  bool spaced_words = false, only_spaces = false;
  bool prefix_space = false;
  bool byte_fallback = false;
  std::vector<std::string> charsmap;

  bool operator==(const TokenizerModel&) const = default;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("kind", "how text is split"), self.kind);
    visitor(Field("pieces", "the printable spelling of every token, in order of ids"), self.pieces);
    visitor(Field("merges", "ids of the left and the right piece of each merge, the first merge first"), self.merges);
    visitor(Field("scores",
                  "unigram: the logarithm of each piece's probability; char-bpe without merges: which piece is merged "
                  "first, the one of the highest score"),
            self.scores);
    visitor(Field("special_tokens", "ids of the special tokens"), self.special_tokens);
    visitor(Field("added_tokens", "ids of tokens that are ordinary text but are found before text is split"),
            self.added_tokens);
    visitor(Field("strip_left", "ids of special and added tokens that include the white space before them"),
            self.strip_left);
    visitor(Field("strip_right", "ids of special and added tokens that include the white space after them"),
            self.strip_right);
    visitor(Field("single_words",
                  "ids of special and added tokens that are found only if no letter, digit or underscore is adjacent"),
            self.single_words);
    visitor(Field("normalised_tokens",
                  "ids of special and added tokens that are found in normalised text, and after the "
                  "others"),
            self.normalised_tokens);
    visitor(
        Field("unknown", "id of the special token for characters without a piece, or none").range(0).word(-1, "none"),
        self.unknown);
    visitor(Field("end_of_text", "id of the special token between documents, or none").range(0).word(-1, "none"),
            self.end_of_text);
    visitor(
        Field("classification", "id of the special token that begins a text, [CLS], or none").range(0).word(-1, "none"),
        self.classification);
    visitor(Field("separator", "id of the special token that ends each of one or two texts, [SEP], or none")
                .range(0)
                .word(-1, "none"),
            self.separator);
    visitor(Field("mask", "id of the mask token, or none").range(0).word(-1, "none"), self.mask);
    visitor(Field("padding", "id of the padding token, or none").range(0).word(-1, "none"), self.padding);
    visitor(Field("pair_separators", "number of separators between two texts").range(1, 2), self.pair_separators);
    visitor(Field("lowercase", "wordpiece: text is lowercased"), self.lowercase);
    visitor(Field("strip_accents", "wordpiece: accents are removed"), self.strip_accents);
    visitor(Field("european_accents", "with strip_accents: only those of Latin, Greek and Cyrillic letters"),
            self.european_accents);
    visitor(Field("final_sigma", "with lowercase: a capital sigma that ends a word becomes the final small one"),
            self.final_sigma);
    visitor(Field("normalisers", "bpe, wordpiece, unigram: steps that change text before it is split"),
            self.normalisers);
    visitor(
        Field("cuts", "bpe, word, wordpiece, unigram: steps that split text into words; none: as GPT-2, or as BERT"),
        self.cuts);
    visitor(Field("whole_words", "bpe: a word that is a piece becomes that piece, whatever its merges are"),
            self.whole_words);
    visitor(
        Field("spaced_words", "unigram, char-bpe: words are separated by white space, and each begins with a space"),
        self.spaced_words);
    visitor(Field("prefix_space", "char-bpe: a space is added before a text"), self.prefix_space);
    visitor(Field("byte_fallback",
                  "unigram, char-bpe: characters without a piece are encoded as bytes, the pieces <0x00> to <0xFF>"),
            self.byte_fallback);
    visitor(Field("charsmap", "with spaced_words: SentencePiece's compiled map of characters, in base64"),
            self.charsmap);
    visitor(Field("only_spaces",
                  "with spaced_words: no other white space separates words, and text may spell spaces as U+2581"),
            self.only_spaces);
    visitor(Field("segments",
                  "unigram, char-bpe: the pieces that text is cut into, where they are not those of the vocabulary; "
                  "each stands for the piece of the same spelling, or for the unknown token"),
            self.segments);
  }
};

// Sixteen hexadecimal digits that depend on everything in the model: FNV-1a (64 bits) over the kind's name, then each
// of pieces, merges and special tokens as its length and members, then the ids of unknown and end_of_text. Then, if one
// of them is not as a model has it by default, the other four ids, lowercase and strip_accents (1 or 0). Then each
// other field that is not, in order: its name and its value. Numbers are decimal text; every item is followed by a zero
// byte.
std::string fingerprint(const TokenizerModel& model);

}  // namespace heddle::text
