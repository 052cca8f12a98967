// What a tokenizer is, as plain data: what files hold and training makes. Nothing here is checked; Vocabulary does
// that.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/base/real.hpp"
#include "heddle/base/visit.hpp"

namespace heddle::text {

enum class TokenizerKind {
  bpe,        // pre-tokens of bytes, merged pair by pair
  byte,       // a byte a token
  character,  // a character a token
  word,       // a pre-token a token
  wordpiece   // words of BERT's basic tokenisation, the longest pieces first
};

}  // namespace heddle::text

template <>
struct heddle::Names<heddle::text::TokenizerKind> {
  static constexpr std::pair<text::TokenizerKind, std::string_view> list[] = {{text::TokenizerKind::bpe, "bpe"},
                                                                              {text::TokenizerKind::byte, "byte"},
                                                                              {text::TokenizerKind::character, "char"},
                                                                              {text::TokenizerKind::word, "word"},
                                                                              {text::TokenizerKind::wordpiece, "wordpiece"}};
};

namespace heddle::text {

struct TokenizerModel {
  TokenizerKind kind = TokenizerKind::byte;
  std::vector<std::string> pieces;  // spelled as spelling.hpp says; special tokens as they are
  std::vector<Index> merges;
  std::vector<Index> special_tokens;
  Index unknown = -1;
  Index end_of_text = -1;
  Index classification = -1, separator = -1, mask = -1, padding = -1;
  bool lowercase = false, strip_accents = false;

  bool operator==(const TokenizerModel&) const = default;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("kind", "how text is cut"), self.kind);
    visitor(Field("pieces", "the printable spelling of every token, in order of ids"), self.pieces);
    visitor(Field("merges", "ids of the left and the right piece of each merge, the first merge first"), self.merges);
    visitor(Field("special_tokens", "ids of the special tokens"), self.special_tokens);
    visitor(Field("unknown", "id of the special token for characters that are no piece, or -1").range(-1),
            self.unknown);
    visitor(Field("end_of_text", "id of the special token between documents, or -1").range(-1), self.end_of_text);
    visitor(Field("classification", "id of the special token that begins a text, [CLS], or -1").range(-1),
            self.classification);
    visitor(Field("separator", "id of the special token that ends each of one or two texts, [SEP], or -1").range(-1),
            self.separator);
    visitor(Field("mask", "id of the special token for what is to be filled in, or -1").range(-1), self.mask);
    visitor(Field("padding", "id of the special token that fills up batches, or -1").range(-1), self.padding);
    visitor(Field("lowercase", "wordpiece: capital letters become small ones"), self.lowercase);
    visitor(Field("strip_accents", "wordpiece: letters lose their accents"), self.strip_accents);
  }
};

// Sixteen hexadecimal digits that depend on everything in the model: FNV-1a (64 bits) over the kind's name, then each
// list's length and members, then the ids of unknown and end_of_text, then, if one of them is not as a model has it by
// default, the other four ids and whether letters are made small and lose their accents (1 or 0); numbers as decimal text; every item followed by a zero byte.
std::string fingerprint(const TokenizerModel& model);

}  // namespace heddle::text
