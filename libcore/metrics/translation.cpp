#include "libcore/metrics/translation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/metrics/white_space.hpp"

namespace heddle::metrics {

namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool is_stop(char letter) {
  return letter == '.' || letter == ',';
}

// ASCII punctuation except the apostrophe, the comma, the hyphen and the full stop.
bool is_separate(char letter) {
  return (letter > ' ' && letter < '\'') || (letter >= '(' && letter <= '+') || letter == '/' ||
         (letter >= ':' && letter <= '@') || (letter >= '[' && letter <= '`') || (letter >= '{' && letter <= '~');
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what)) {
    result.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + what.size());
  }
  return result.append(text);
}

// A place in a text at which spaces are added: around the first or the second of two bytes.
enum class Around { first, second };

// Adds spaces around one of two adjacent bytes that both fit; the next two are looked for after them. Characters that
// are not ASCII fit as their bytes do.
template <class First, class Second>
std::string spaced(std::string_view text, const First& first, const Second& second, Around around) {
  std::string result;
  std::size_t i = 0;
  while (i < text.size()) {
    const char one = text[i++];
    if (i == text.size() || !first(one) || !second(text[i])) {
      result += one;
      continue;
    }
    const char other = text[i++];
    if (around == Around::first) {
      result.append({' ', one, ' ', other});
    } else {
      result.append({one, ' ', other, ' '});
    }
  }
  return result;
}

// Calls unit(begin, end) for each character of the text that is not white space; with `words`, for each run of them.
template <class Unit>
void for_each_unit(std::string_view text, bool words, const Unit& unit) {
  std::size_t begin = std::string_view::npos;  // of a word
  for (std::size_t at = 0; at < text.size();) {
    const text::Character character = text::decode(text, at);
    const bool space = is_white_space(character.code);
    if (!words && !space) unit(at, at + character.length);
    if (words && space && begin != text.npos) unit(begin, at);
    if (space) {
      begin = text.npos;
    } else if (begin == text.npos) {
      begin = at;
    }
    at += character.length;
  }
  if (words && begin != text.npos) unit(begin, text.size());
}

bool is_of_unspaced_script(char32_t c) {
  constexpr std::pair<char32_t, char32_t> scripts[] = {{0xE00, 0xFFF},   {0x1000, 0x109F}, {0x1780, 0x17FF},
                                                       {0x2E80, 0x312F}, {0x31A0, 0x31FF}, {0x3400, 0x9FFF},
                                                       {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x20000, 0x3FFFF}};
  return std::ranges::any_of(scripts, [&](const auto& range) { return c >= range.first && c <= range.second; });
}

// A text as a sequence of words or characters: an n-gram is a part of it.
class Units {
 public:
  static Units words(std::string_view line) {
    Units units;
    units.text_ = tokenize_13a(line);
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

BleuCounts count_bleu(std::string_view line, std::span<const std::string> references) {
  const Units hypothesis = Units::words(line);
  std::vector<Units> others;
  for (const std::string& reference : references) others.push_back(Units::words(reference));
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

// N-grams of the hypothesis count only in the orders that the reference has.
ChrfCounts count_chrf(const Units& hypothesis, const Units& reference) {
  ChrfCounts counts;
  for (std::size_t i = 0; i < ChrfCounts::order; ++i) {
    const std::vector<std::string_view> ours = hypothesis.ngrams(i + 1), theirs = reference.ngrams(i + 1);
    counts.hypothesis[i] = theirs.empty() ? 0 : size_of(ours);
    counts.reference[i] = size_of(theirs);
    counts.matches[i] = common(ours, theirs);
  }
  return counts;
}

// The first of the references with the highest score.
ChrfCounts count_chrf(std::string_view line, std::span<const std::string> references) {
  const Units hypothesis = Units::characters(line);
  ChrfCounts best;
  double best_score = -1;
  for (const std::string& reference : references) {
    const ChrfCounts counts = count_chrf(hypothesis, Units::characters(reference));
    const double score = chrf(counts);
    if (score > best_score) best = counts;
    best_score = std::max(best_score, score);
  }
  return best;
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

bool is_unspaced(std::string_view line) {
  Index letters = 0, unspaced = 0;
  for (std::size_t at = 0; at < line.size();) {
    const text::Character character = text::decode(line, at);
    at += character.length;
    if (text::classify(character.code) != text::CharacterClass::letter) continue;
    ++letters;
    unspaced += is_of_unspaced_script(character.code) ? 1 : 0;
  }
  return 2 * unspaced > letters;
}

std::string tokenize_13a(std::string_view line) {
  std::string text = replaced(line, "<skipped>", "");
  for (const auto& [entity, character] :
       {std::pair("&quot;", "\""), std::pair("&amp;", "&"), std::pair("&lt;", "<"), std::pair("&gt;", ">")}) {
    text = replaced(text, entity, character);
  }
  std::string separated = " ";
  for (const char letter : text) {
    if (is_separate(letter)) {
      separated.append({' ', letter, ' '});
    } else {
      separated += letter;
    }
  }
  separated += ' ';
  const auto is_other = [](char letter) { return !is_digit(letter); };
  separated = spaced(separated, is_other, is_stop, Around::second);
  separated = spaced(separated, is_stop, is_other, Around::first);
  separated = spaced(
      separated, is_digit, [](char letter) { return letter == '-'; }, Around::second);
  std::string words;
  for_each_unit(separated, true, [&](std::size_t begin, std::size_t end) {
    if (!words.empty()) words += ' ';
    words.append(separated, begin, end - begin);
  });
  return words;
}

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

TranslationCounts& TranslationCounts::operator+=(const TranslationCounts& other) {
  bleu += other.bleu;
  chrf += other.chrf;
  lines += other.lines;
  exact += other.exact;
  return *this;
}

TranslationCounts count_translation(std::string_view hypothesis, std::span<const std::string> references) {
  check<DataError>(!references.empty(), "a translation cannot be compared without a reference");
  return {count_bleu(hypothesis, references), count_chrf(hypothesis, references), 1,
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
  for (std::size_t i = 0; i < ChrfCounts::order; ++i) {
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

std::string bleu_signature(Index references) {
  return concatenate("nrefs:", references, "|case:mixed|eff:no|tok:13a|smooth:exp");
}

std::string chrf_signature(Index references) {
  return concatenate("nrefs:", references, "|case:mixed|eff:yes|nc:", ChrfCounts::order, "|nw:0|space:no");
}

TranslationReport report(std::span<const TranslationCounts> lines) {
  check<DataError>(!lines.empty(), "no translation to evaluate");
  TranslationCounts counts;
  for (const TranslationCounts& line : lines) counts += line;
  const auto precisions = precisions_of(counts.bleu);
  return {.lines = counts.lines,
          .bleu = bleu(counts.bleu),
          .chrf = chrf(counts.chrf),
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
