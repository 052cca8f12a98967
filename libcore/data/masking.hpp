// Selects the tokens that a masked language model predicts, and replaces them (SPEC 4.3).
// Source: Devlin et al. 2019, "BERT", section 3.1 and appendix A.1; Liu et al. 2019, "RoBERTa", section 4.1; Wettig et
// al. 2023, "Should you mask 15% in masked language modeling?", for the default rate.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/data/words.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::data {

enum class MaskingKind {
  dynamic,     // other positions in every epoch (RoBERTa)
  unchanging,  // the same in every epoch (BERT)
};

}  // namespace heddle::data

template <>
struct heddle::Names<heddle::data::MaskingKind> {
  static constexpr std::pair<data::MaskingKind, std::string_view> list[] = {{data::MaskingKind::dynamic, "dynamic"},
                                                                            {data::MaskingKind::unchanging, "static"}};
};

namespace heddle::data {

struct MaskingOptions {
  MaskingKind masking = MaskingKind::dynamic;
  double probability = 0.3;
  bool whole_words = false;
  bool segment_pairs = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field(
            "probability",
            "fraction of the tokens to predict; 80 % of them are masked, 10 % replaced by random tokens, 10 % kept; of "
            "nodes, all are masked")
            .above(0, 1)
            .formerly("mask_probability")
            .takes("P"),
        self.probability);
    visit_selection(self, visitor);
  }

  // All settings but the fraction.
  template <class Self, class Visitor>
  static void visit_selection(Self& self, Visitor& visitor) {
    visitor(Field("masking", "select what to predict anew in every epoch, or once for all epochs"), self.masking);
    visitor(Field("whole_words", "select all tokens of a word or none"), self.whole_words);
    visitor(Field("segment_pairs", "split each sequence into two segments; implied by next-sentence prediction"),
            self.segment_pairs);
  }
};

// Options of the objective that predicts tokens in a random order (XLNet).
struct PermutationOptions {
  Index partial_prediction = 6;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("partial_prediction",
              "predict one in N tokens: the last ones of a random order, each from all tokens before it in this order")
            .range(1, 1000)
            .takes("N"),
        self.partial_prediction);
  }
};

// The parts of a vocabulary that masking uses.
struct MaskVocabulary : WordVocabulary {
  TokenId classification, separator, mask, padding;  // padding: any token, where the vocabulary has none for it
  std::vector<TokenId> ordinary;                     // all that are not special

  // Throws DataError, with advice, when the tokenizer lacks the special tokens; `name` is the file that has it.
  MaskVocabulary(const text::Tokenizer& tokenizer, const std::string& name);
  // For windows without special tokens around them: throws for a tokenizer without a mask token alone.
  static MaskVocabulary of_windows(const text::Tokenizer& tokenizer, const std::string& name);
  // A vocabulary without texts, whose last ids are special: for measuring.
  explicit MaskVocabulary(Index vocab_size);

 private:
  explicit MaskVocabulary(const text::Tokenizer& tokenizer);
};

// The selected positions, in ascending order, and the tokens that were there.
struct Masked {
  std::vector<Index> positions;
  std::vector<TokenId> targets;
};

// Selects as mask_tokens() does with a probability of 1 / partial_prediction, and replaces nothing. The rank of each
// position in a random order: those that are not selected have -1, as special tokens do, the others 0, 1, … in an order
// that depends on the stream alone.  Source: Yang et al. 2019, "XLNet", section 2.3, "partial prediction", and its
// published code, which lets all tokens see those that are not predicted.
struct Permuted {
  Masked chosen;
  std::vector<Index> ranks;  // ranks of all tokens
};
Permuted permute_tokens(std::span<const TokenId> tokens, const MaskVocabulary& vocabulary,
                        const PermutationOptions& options, bool whole_words, const RandomStream& stream);

// Selects max(1, round(probability n)) of the n positions without special tokens; none if n is 0. 80 % of them
// become the mask token, 10 % a random ordinary token, 10 % are kept. With whole words, all tokens of a word are
// selected or none: words are taken in random order, and one that exceeds the number is skipped unless it is the first.
// The selection depends on the stream and the tokens alone.
Masked mask_tokens(std::span<TokenId> tokens, const MaskVocabulary& vocabulary, const MaskingOptions& options,
                   const RandomStream& stream);

}  // namespace heddle::data
