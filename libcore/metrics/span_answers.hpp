// Metrics of answers that are spans of text. Answers are compared without case, ASCII punctuation, the articles a, an
// and the, and differences of white space. Exact match is 1 or 0; token F1 is that of the two answers' words, as
// multisets. Each takes the best of the gold answers. A question without an answer has the empty answer, which only the
// empty answer matches. Source: Rajpurkar et al. 2016, "SQuAD", section 6.1, and 2018, "Know what you don't know", with
// the evaluation program of version 2.0.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "libcore/base/visit.hpp"

namespace heddle::metrics {

// The words that are compared, with spaces between. Lower case is that of letter_case.hpp.
std::string normal_answer(std::string_view answer);

struct AnswerScore {
  double exact_match = 0, token_f1 = 0;
  bool answerable = true;
};

// No gold answers mean that there is none; then the prediction is right if it is empty.
AnswerScore score_answer(std::string_view predicted, std::span<const std::string> gold);

struct AnswerScores {
  Index questions = 0;
  double exact_match = 0, token_f1 = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("questions", "number of questions"), self.questions);
    visitor(Field("exact_match", "fraction of answers that are a gold answer"), self.exact_match);
    visitor(Field("token_f1", "mean F1 of the words of answer and gold answer"), self.token_f1);
  }
};

struct AnswerReport {
  AnswerScores all, answerable, impossible;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    AnswerScores::visit(self.all, visitor);
    visitor(Field("answerable", "scores of questions that have an answer"), self.answerable);
    visitor(Field("impossible", "scores of questions that have none"), self.impossible);
  }
};

// Means over the questions. Throws DataError where there is none.
AnswerReport report(std::span<const AnswerScore> scores);

// A question with what is known before it is decided whether to answer it.
struct NullDecision {
  double null_score = 0;    // score of no answer minus score of the best answer
  double if_answered = 0;   // score of the best answer
  double if_abstained = 0;  // score of giving no answer
};

// The threshold with the highest total score, if the questions with a null score up to the threshold are answered: one
// of the null scores, the lowest of equally good ones, or a value below them all. Throws DataError where there is no
// question.
double best_null_threshold(std::span<const NullDecision> questions);

}  // namespace heddle::metrics
