#include "libcore/metrics/span_answers.hpp"

#include <algorithm>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/metrics/white_space.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::metrics {

namespace {

using text::CharacterClass;

bool is_ascii_punctuation(char32_t c) {
  return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') || (c > 'z' && c < 0x7F);
}

bool is_article(std::string_view run) {
  return run == "a" || run == "an" || run == "the";
}

// An answer in small letters, without punctuation, in its words; articles are cut out even of words, where they are
// runs of letters and digits of their own: of "1990–the" the "1990–" stays.
class Normaliser {
 public:
  void add(char32_t c, std::string_view bytes) {
    if (is_ascii_punctuation(c)) return;
    if (is_white_space(c)) return end_word();
    const CharacterClass kind = text::classify(c);
    const bool in_run = kind == CharacterClass::letter || kind == CharacterClass::number;
    if (!in_run) end_run();
    std::string& end = in_run ? run_ : word_;
    if (c == text::invalid_character) {
      end += bytes;
    } else {
      text::append_utf8(end, c);
    }
  }

  std::string finish() && {
    end_word();
    return std::move(words_);
  }

 private:
  void end_run() {
    if (is_article(run_)) {
      run_.clear();
      put_word();
    }
    word_ += run_;
    run_.clear();
  }
  void end_word() {
    end_run();
    put_word();
  }
  void put_word() {
    if (!word_.empty() && !words_.empty()) words_ += ' ';
    words_ += word_;
    word_.clear();
  }

  std::string words_, word_, run_;
};

std::vector<std::string> sorted_words(const std::string& normal) {
  std::vector<std::string> words = split(normal, ' ');
  std::ranges::sort(words);
  return words;
}

// Both answers are normalised.
double token_f1(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return one == other ? 1 : 0;
  const std::vector<std::string> a = sorted_words(one), b = sorted_words(other);
  std::vector<std::string> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return 2 * static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size());
}

// Sums of scores, then their means.
void add(const AnswerScore& score, AnswerScores& sums) {
  ++sums.questions;
  sums.exact_match += score.exact_match;
  sums.token_f1 += score.token_f1;
}

void divide(AnswerScores& sums) {
  if (sums.questions == 0) return;
  sums.exact_match /= static_cast<double>(sums.questions);
  sums.token_f1 /= static_cast<double>(sums.questions);
}

}  // namespace

std::string normal_answer(std::string_view answer) {
  Normaliser normaliser;
  const std::string lower = text::in_lower_case(answer);
  for (std::size_t at = 0; at < lower.size();) {
    const text::Character character = text::decode(lower, at);
    normaliser.add(character.code, std::string_view(lower).substr(at, character.length));
    at += character.length;
  }
  return std::move(normaliser).finish();
}

AnswerScore score_answer(std::string_view predicted, std::span<const std::string> gold) {
  std::vector<std::string> answers;
  for (const std::string& answer : gold) {
    if (std::string normal = normal_answer(answer); !normal.empty()) answers.push_back(std::move(normal));
  }
  if (answers.empty()) answers.emplace_back();
  const std::string guess = normal_answer(predicted);
  AnswerScore best{.answerable = !gold.empty()};
  for (const std::string& answer : answers) {
    if (guess == answer) best.exact_match = 1;
    best.token_f1 = std::max(best.token_f1, token_f1(guess, answer));
  }
  return best;
}

AnswerReport report(std::span<const AnswerScore> scores) {
  check<DataError>(!scores.empty(), "no question to evaluate");
  AnswerReport result;
  for (const AnswerScore& score : scores) {
    add(score, result.all);
    add(score, score.answerable ? result.answerable : result.impossible);
  }
  for (AnswerScores* part : {&result.all, &result.answerable, &result.impossible}) divide(*part);
  return result;
}

double best_null_threshold(std::span<const NullDecision> questions) {
  check<DataError>(!questions.empty(), "no question to choose a threshold with");
  std::vector<NullDecision> sorted(questions.begin(), questions.end());
  std::ranges::sort(sorted, {}, &NullDecision::null_score);
  // Gain of answering the first ones over answering none.
  double gain = 0, best_gain = 0, best = sorted.front().null_score - 1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    gain += sorted[i].if_answered - sorted[i].if_abstained;
    const bool last_of_equals = i + 1 == sorted.size() || sorted[i + 1].null_score != sorted[i].null_score;
    if (!last_of_equals || gain <= best_gain) continue;
    best_gain = gain;
    best = sorted[i].null_score;
  }
  return best;
}

}  // namespace heddle::metrics
