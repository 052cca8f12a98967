#include "libcore/metrics/translation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/metrics/edit_rate.hpp"
#include "libcore/metrics/white_space.hpp"
#include "libcore/text/letter_case.hpp"

namespace heddle::metrics {

namespace {

// A text as a sequence of words or characters: an n-gram is a part of it.
class Units {
 public:
  // Units of words that have a space between them.
  static Units words(std::string words) {
    Units units;
    units.text_ = std::move(words);
    std::size_t begin = 0;
    while (begin < units.text_.size()) {
      const std::size_t end = std::min(units.text_.find(' ', begin), units.text_.size());
      units.bounds_.emplace_back(begin, end);
      begin = end + 1;
    }
    return units;
  }
  static Units characters(std::string_view line) {
    Units units;
    for_each_unit(line, false, [&](std::size_t begin, std::size_t end) {
      const std::size_t at = units.text_.size();
      units.text_ += line.substr(begin, end - begin);
      units.bounds_.emplace_back(at, units.text_.size());
    });
    return units;
  }

  Index size() const { return static_cast<Index>(bounds_.size()); }

  // Sorted, each as often as it occurs. Valid as long as the object.
  std::vector<std::string_view> ngrams(std::size_t n) const {
    std::vector<std::string_view> all;
    for (std::size_t last = n - 1; last < bounds_.size(); ++last) {
      const std::size_t begin = bounds_[last + 1 - n].first;
      all.push_back(std::string_view(text_).substr(begin, bounds_[last].second - begin));
    }
    std::ranges::sort(all);
    return all;
  }

 private:
  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> bounds_;
};

Index common(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::string_view> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return static_cast<Index>(both.size());
}

Index size_of(const std::vector<std::string_view>& ngrams) {
  return static_cast<Index>(ngrams.size());
}

// The length of the reference nearest to it, the shorter of two as near.
Index nearest_length(Index length, const std::vector<Units>& references) {
  const auto nearness = [&](const Units& units) { return std::pair(std::abs(units.size() - length), units.size()); };
  return std::ranges::min_element(references, {}, nearness)->size();
}

BleuCounts count_bleu(std::string_view line, std::span<const std::string> references, BleuWords words) {
  const Units hypothesis = Units::words(bleu_words(words, line));
  std::vector<Units> others;
  for (const std::string& reference : references) others.push_back(Units::words(bleu_words(words, reference)));
  BleuCounts counts{hypothesis.size(), nearest_length(hypothesis.size(), others), {}, {}};
  for (std::size_t i = 0; i < BleuCounts::order; ++i) {
    // The union of multisets has each n-gram as often as the one that has it most often.
    std::vector<std::string_view> allowed;
    for (const Units& other : others) {
      std::vector<std::string_view> merged;
      std::ranges::set_union(allowed, other.ngrams(i + 1), std::back_inserter(merged));
      allowed.swap(merged);
    }
    const std::vector<std::string_view> ngrams = hypothesis.ngrams(i + 1);
    counts.ngrams[i] = size_of(ngrams);
    counts.matches[i] = common(ngrams, allowed);
  }
  return counts;
}

bool is_punctuation(char letter) {
  return (letter > ' ' && letter < '0') || (letter > '9' && letter < 'A') || (letter > 'Z' && letter < 'a') ||
         (letter > 'z' && letter <= '~');
}

// The words of chrF++: one punctuation mark of ASCII is separated from the end of a word or, where it ends in none,
// from its beginning.
std::string chrf_words(std::string_view line) {
  std::string words;
  for_each_unit(line, true, [&](std::size_t begin, std::size_t end) {
    const std::string_view word = line.substr(begin, end - begin);
    if (!words.empty()) words += ' ';
    if (word.size() > 1 && is_punctuation(word.back())) {
      words.append(word.substr(0, word.size() - 1)).append({' ', word.back()});
    } else if (word.size() > 1 && is_punctuation(word.front())) {
      words.append({word.front(), ' '}).append(word.substr(1));
    } else {
      words += word;
    }
  });
  return words;
}

// Units that chrF compares: characters and, for chrF++, words.
struct ChrfUnits {
  Units characters, words;
  ChrfUnits(std::string_view line, bool has_words)
      : characters(Units::characters(line)), words(Units::words(has_words ? chrf_words(line) : std::string())) {}
};

// N-grams of the hypothesis count only in the orders that the reference has.
void count_chrf(const Units& hypothesis, const Units& reference, std::size_t orders, std::size_t first,
                ChrfCounts& counts) {
  for (std::size_t i = 0; i < orders; ++i) {
    const std::vector<std::string_view> ours = hypothesis.ngrams(i + 1), theirs = reference.ngrams(i + 1);
    counts.hypothesis[first + i] = theirs.empty() ? 0 : size_of(ours);
    counts.reference[first + i] = size_of(theirs);
    counts.matches[first + i] = common(ours, theirs);
  }
}

// The first of the references with the highest score.
ChrfCounts count_chrf(std::string_view line, std::span<const std::string> references, bool has_words) {
  const ChrfUnits hypothesis(line, has_words);
  ChrfCounts best;
  double best_score = -1;
  for (const std::string& reference : references) {
    const ChrfUnits other(reference, has_words);
    ChrfCounts counts;
    count_chrf(hypothesis.characters, other.characters, ChrfCounts::characters, 0, counts);
    count_chrf(hypothesis.words, other.words, ChrfCounts::words, ChrfCounts::characters, counts);
    const double score = chrf(counts);
    if (score > best_score) best = counts;
    best_score = std::max(best_score, score);
  }
  return best;
}

Words edited_words(std::string_view line) {
  std::string lower;
  text::LowerCase letters(true);
  for (std::size_t at = 0; at < line.size();) {
    const text::Character character = text::decode(line, at);
    letters.append(lower, character.code == text::invalid_character ? 0xFFFD : character.code);
    at += character.length;
  }
  letters.end(lower);
  Words words;
  for_each_unit(lower, true,
                [&](std::size_t begin, std::size_t end) { words.push_back(lower.substr(begin, end - begin)); });
  return words;
}

// The fewest edits to one of the references, and their mean length.
EditCounts edits_of_line(std::string_view line, std::span<const std::string> references) {
  const Words hypothesis = edited_words(line);
  EditCounts counts;
  bool has_one = false;
  for (const std::string& reference : references) {
    const Words other = edited_words(reference);
    const Index edits = count_edits(hypothesis, other);
    counts.edits = has_one ? std::min(counts.edits, edits) : edits;
    counts.reference_words += static_cast<double>(other.size()) / static_cast<double>(references.size());
    has_one = true;
  }
  return counts;
}

template <std::size_t n>
void add(std::array<Index, n>& sums, const std::array<Index, n>& counts) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += counts[i];
}

// In percent; 0 where there is no n-gram of an order, and all 0 where no word matches.
std::array<double, BleuCounts::order> precisions_of(const BleuCounts& counts) {
  std::array<double, BleuCounts::order> precisions = {};
  if (counts.matches.front() == 0) return precisions;
  double smoothing = 1;
  for (std::size_t i = 0; i < BleuCounts::order && counts.ngrams[i] > 0; ++i) {
    const auto ngrams = static_cast<double>(counts.ngrams[i]);
    if (counts.matches[i] > 0) {
      precisions[i] = 100 * static_cast<double>(counts.matches[i]) / ngrams;
    } else {
      smoothing *= 2;
      precisions[i] = 100 / (smoothing * ngrams);
    }
  }
  return precisions;
}

}  // namespace

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  hypothesis_words += other.hypothesis_words;
  reference_words += other.reference_words;
  add(ngrams, other.ngrams);
  add(matches, other.matches);
  return *this;
}

ChrfCounts& ChrfCounts::operator+=(const ChrfCounts& other) {
  add(hypothesis, other.hypothesis);
  add(reference, other.reference);
  add(matches, other.matches);
  return *this;
}

EditCounts& EditCounts::operator+=(const EditCounts& other) {
  edits += other.edits;
  reference_words += other.reference_words;
  return *this;
}

TranslationCounts& TranslationCounts::operator+=(const TranslationCounts& other) {
  bleu += other.bleu;
  chrf += other.chrf;
  chrf_words += other.chrf_words;
  ter += other.ter;
  lines += other.lines;
  exact += other.exact;
  return *this;
}

TranslationCounts count_translation(std::string_view hypothesis, std::span<const std::string> references,
                                    BleuWords words) {
  check<DataError>(!references.empty(), "a translation cannot be compared without a reference");
  return {count_bleu(hypothesis, references, words),
          count_chrf(hypothesis, references, false),
          count_chrf(hypothesis, references, true),
          edits_of_line(hypothesis, references),
          1,
          std::ranges::find(references, hypothesis) != references.end() ? 1 : 0};
}

double brevity_penalty(const BleuCounts& counts) {
  if (counts.hypothesis_words >= counts.reference_words) return 1;
  if (counts.hypothesis_words == 0) return 0;
  return std::exp(1 - static_cast<double>(counts.reference_words) / static_cast<double>(counts.hypothesis_words));
}

double bleu(const BleuCounts& counts) {
  if (counts.matches.front() == 0 || counts.ngrams.back() == 0) return 0;
  double sum = 0;
  for (const double precision : precisions_of(counts)) sum += std::log(precision);
  return brevity_penalty(counts) * std::exp(sum / static_cast<double>(BleuCounts::order));
}

double chrf(const ChrfCounts& counts) {
  constexpr double factor = 2 * 2;  // β²
  double precision = 0, recall = 0, orders = 0;
  for (std::size_t i = 0; i < counts.matches.size(); ++i) {
    if (counts.hypothesis[i] == 0 || counts.reference[i] == 0) continue;
    const auto matches = static_cast<double>(counts.matches[i]);
    precision += matches / static_cast<double>(counts.hypothesis[i]);
    recall += matches / static_cast<double>(counts.reference[i]);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  return 100 * (1 + factor) * (precision / orders) * (recall / orders) /
         (factor * (precision / orders) + recall / orders);
}

double exact_match(const TranslationCounts& counts) {
  return counts.lines == 0 ? 0 : static_cast<double>(counts.exact) / static_cast<double>(counts.lines);
}

double edit_rate(const EditCounts& counts) {
  if (counts.reference_words > 0) return 100 * static_cast<double>(counts.edits) / counts.reference_words;
  return counts.edits > 0 ? 100 : 0;
}

std::string bleu_signature(Index references, BleuWords words) {
  return concatenate("nrefs:", references, "|case:mixed|eff:no|tok:", to_text(words), "|smooth:exp");
}

std::string chrf_signature(Index references, bool has_words) {
  return concatenate("nrefs:", references, "|case:mixed|eff:yes|nc:", ChrfCounts::characters,
                     "|nw:", has_words ? ChrfCounts::words : 0, "|space:no");
}

std::string ter_signature(Index references) {
  return concatenate("nrefs:", references, "|case:lc|tok:tercom|norm:no|punct:yes|asian:no");
}

TranslationReport report(std::span<const TranslationCounts> lines) {
  check<DataError>(!lines.empty(), "no translation to evaluate");
  TranslationCounts counts;
  for (const TranslationCounts& line : lines) counts += line;
  const auto precisions = precisions_of(counts.bleu);
  return {.lines = counts.lines,
          .bleu = bleu(counts.bleu),
          .chrf = chrf(counts.chrf),
          .chrf_words = chrf(counts.chrf_words),
          .ter = edit_rate(counts.ter),
          .exact_match = exact_match(counts),
          .precisions = {precisions.begin(), precisions.end()},
          .brevity_penalty = brevity_penalty(counts.bleu),
          .hypothesis_words = counts.bleu.hypothesis_words,
          .reference_words = counts.bleu.reference_words};
}

TranslationCounts sum_of(std::span<const TranslationCounts> lines, std::span<const Index> indices) {
  TranslationCounts sum;
  for (const Index i : indices) sum += lines[static_cast<std::size_t>(i)];
  return sum;
}

}  // namespace heddle::metrics
