// Quality of translations against references: BLEU, chrF, chrF++, TER and exact match of a corpus, with the numbers
// that sacrebleu gives.
//
//   BLEU = 100 · brevity · exp(1/4 Σ log p_n), n from 1 to 4
//   p_n  = matching n-grams of words / n-grams of the hypotheses, each n-gram counted at most as often as in a
//   reference
//          of its line; where none match, 1 / (2^k · n-grams) for the k-th such order
//   brevity = exp(1 - r/c) where the length c of the hypotheses is below that of the references r, else 1; of several
//          references the one nearest in length counts, the shorter of two as near
//   chrF = 100 · (1 + 2²) P R / (2² P + R), with the mean precision P and recall R of the n-grams of characters, n from
//   1
//          to 6, over the orders that both sides have; of several references the best one of the line counts. chrF++
//          has n-grams of one and two words beside them
//   TER  = 100 · edits / words of the references (edit_rate.hpp), in lower case; of several references the nearest one
//          of the line counts, and their mean length
//
// Counts are summed over the lines before anything is divided. Sources: Papineni et al. 2002, "BLEU"; Chen and Cherry
// 2014, "A systematic comparison of smoothing techniques", method 3; Popović 2015, "chrF"; Popović 2017, "chrF++";
// Snover et al. 2006, "A study of translation edit rate"; Post 2018, "A call for clarity in reporting BLEU scores".
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/metrics/bleu_words.hpp"

namespace heddle::metrics {

// The counts of a line or, added, of many.
struct BleuCounts {
  static constexpr std::size_t order = 4;
  Index hypothesis_words = 0, reference_words = 0;
  std::array<Index, order> ngrams = {}, matches = {};  // n-grams of the hypothesis; matches[0] are of single words

  BleuCounts& operator+=(const BleuCounts& other);
};

struct ChrfCounts {
  static constexpr std::size_t characters = 6, words = 2;
  // N-grams of characters, then of words, of which chrF has none.
  std::array<Index, characters + words> hypothesis = {}, reference = {}, matches = {};

  ChrfCounts& operator+=(const ChrfCounts& other);
};

struct EditCounts {
  Index edits = 0;
  double reference_words = 0;

  EditCounts& operator+=(const EditCounts& other);
};

struct TranslationCounts {
  BleuCounts bleu;
  ChrfCounts chrf, chrf_words;  // chrF++
  EditCounts ter;
  Index lines = 0, exact = 0;  // exact: equal to a reference, byte for byte

  TranslationCounts& operator+=(const TranslationCounts& other);
};

// The counts of one line, without its line end. Throws DataError where there is no reference.
TranslationCounts count_translation(std::string_view hypothesis, std::span<const std::string> references,
                                    BleuWords words = BleuWords::v13a);

double bleu(const BleuCounts& counts);                // from 0 to 100
double brevity_penalty(const BleuCounts& counts);     // from 0 to 1
double chrf(const ChrfCounts& counts);                // from 0 to 100
double edit_rate(const EditCounts& counts);           // percent, beyond 100 too
double exact_match(const TranslationCounts& counts);  // fraction of lines, from 0 to 1

// Signature of the scores, in sacrebleu's notation.
std::string bleu_signature(Index references, BleuWords words = BleuWords::v13a);
std::string chrf_signature(Index references, bool has_words = false);
std::string ter_signature(Index references);

struct TranslationReport {
  Index lines = 0;
  double bleu = 0, chrf = 0, chrf_words = 0, ter = 0, exact_match = 0;
  std::vector<double> precisions;  // n-gram precisions of BLEU, percent
  double brevity_penalty = 0;
  Index hypothesis_words = 0, reference_words = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("lines", "number of translations"), self.lines);
    visitor(Field("bleu", "BLEU, from 0 to 100"), self.bleu);
    visitor(Field("chrf", "chrF2, from 0 to 100"), self.chrf);
    visitor(Field("chrf_words", "chrF2++, from 0 to 100"), self.chrf_words);
    visitor(Field("ter", "TER, edits per 100 words"), self.ter);
    visitor(Field("exact_match", "fraction of lines that equal a reference"), self.exact_match);
    visitor(Field("precisions", "of the n-grams of 1 to 4 words, in percent"), self.precisions);
    visitor(Field("brevity_penalty", "factor of BLEU for translations shorter than the references"),
            self.brevity_penalty);
    visitor(Field("hypothesis_words", "words of the translations"), self.hypothesis_words);
    visitor(Field("reference_words", "words of the references"), self.reference_words);
  }
};

// Throws DataError where there is no line.
TranslationReport report(std::span<const TranslationCounts> lines);

// The counts of the lines with these indices, with repetitions: for bootstrap_interval() of a metric.
TranslationCounts sum_of(std::span<const TranslationCounts> lines, std::span<const Index> indices);

}  // namespace heddle::metrics
