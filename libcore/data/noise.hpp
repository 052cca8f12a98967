// Corrupts texts, which sequence-to-sequence models learn to restore (SPEC 4.5).
// Sources: Raffel et al. 2020, "Exploring the limits of transfer learning with a unified text-to-text transformer",
// section 3.1.4; Lewis et al. 2020, "BART", section 2.2.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/data/pair_source.hpp"
#include "libcore/data/words.hpp"

namespace heddle::data {

enum class NoiseKind {
  spans,     // spans of tokens become sentinels, and the target lists them (T5)
  infilling  // spans of words become mask tokens, sentences change places, and the target is the text (BART)
};

}  // namespace heddle::data

template <>
struct heddle::Names<heddle::data::NoiseKind> {
  static constexpr std::pair<heddle::data::NoiseKind, std::string_view> list[] = {
      {data::NoiseKind::spans, "spans"}, {data::NoiseKind::infilling, "infilling"}};
};

namespace heddle::data {

struct NoiseOptions {
  NoiseKind noise = NoiseKind::spans;
  double density = 0;  // 0: the published one
  double mean_span_length = 3;
  bool random_roll = false;
  bool permute_sentences = true;

  // 15 % of the tokens for spans, 30 % of the words for infilling.
  double fraction() const { return density > 0 ? density : noise == NoiseKind::spans ? 0.15 : 0.3; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("noise",
                  "corruption of the text that the model restores: spans of tokens replaced by sentinels, of which the "
                  "target lists the tokens (T5), or infilling: spans of words replaced by mask tokens and sentences "
                  "permuted, with the whole text as target (BART)")
                .takes("NAME"),
            self.noise);
    visitor(
        Field("density", "fraction of the tokens (spans) or words (infilling) that are taken out; auto: 0.15 or 0.3")
            .formerly("noise_density")
            .above(0, 1)
            .word(0, "auto")
            .takes("P"),
        self.density);
    visitor(Field("mean_span_length", "mean length of a span, in tokens (spans) or words (infilling)")
                .range(1, 100)
                .takes("X"),
            self.mean_span_length);
    visitor(
        Field(
            "random_roll",
            "of spans: roll the noise by a random number of tokens; without it, the last span is the end of the text"),
        self.random_roll);
    visitor(Field("permute_sentences", "of infilling: sentences change places"), self.permute_sentences);
  }
};

// The parts of a vocabulary that corruption uses.
struct NoiseVocabulary : WordVocabulary {
  std::vector<TokenId> sentinels;  // in the order of their numbers
  std::optional<TokenId> mask;
  bool ends_documents;  // whether a token of its own ends each document
  // For every token: whether it ends a sentence (with . ! or ?, perhaps followed by closing quotation marks, brackets
  // and white space), and whether it consists of the latter alone.
  std::vector<bool> ends_sentence, closes;

  // Throws DataError, with advice, where the tokenizer lacks the tokens of this kind of noise; `name` is the file that
  // has it.
  NoiseVocabulary(const text::Tokenizer& tokenizer, NoiseKind noise, const std::string& name);
  // A vocabulary without texts, whose last ids are sentinels and the mask token: for measuring.
  explicit NoiseVocabulary(Index vocab_size);
};

// Tokens of a text that span corruption takes out, and spans that they form.
struct SpanCounts {
  Index noise, spans;
};
// In n >= 2 tokens: noise = round(density n), from 1 to n - 1; spans = round(noise / mean length), at least 1 and at
// most noise and n - noise.
SpanCounts span_counts(Index tokens, const NoiseOptions& options);

// Upper bounds of the lengths of source and target that corrupt() makes of a text of so many tokens; of spans without a
// roll, and of the target of infilling, the lengths. None is longer for a shorter text.
PairLengths noised_lengths(Index tokens, const NoiseOptions& options);

// Spans: noise and rest are split into as many parts as there are spans, uniformly at random, and take turns, the rest
// first: A n1 B n2. The source has sentinels in place of the noise, A <0> B <1>, the target <0> n1 <1> n2 <2>. A text
// of fewer than two tokens stays whole, with the target <0>. With random_roll, noise is rolled round the text, and a
// span at its end may become two. Throws DataError for more spans than sentinels.
//
// Infilling: budget = max(1, round(density words)) words are taken out in spans of Poisson lengths with the given mean,
// the last one cut to the budget, and each span becomes one mask token; one of length 0 inserts a mask token. Spans and
// remaining words are put in a random order. There are at most `budget` spans: the last insertions are left out. Before
// that, sentences change places at random. The target is the text.
//
// Precondition: no special tokens in the text. The result depends on the stream and the text alone.
TokenPair corrupt(std::span<const TokenId> text, const NoiseVocabulary& vocabulary, const NoiseOptions& options,
                  const RandomStream& stream);

// The numbers of the words, sentence by sentence. A sentence ends with a word that ends_sentence and the words after it
// that only close.
std::vector<std::vector<TokenRange>> sentences_in(std::span<const TokenId> text, const NoiseVocabulary& vocabulary);

}  // namespace heddle::data
