// Classification metrics.
//
//   accuracy = correct / n
//   macro F1 = mean of the F1 of those classes that occur, in the gold labels or among the predicted ones
//   Matthews = (c s - sum_k p_k t_k) / sqrt((s^2 - sum_k p_k^2) (s^2 - sum_k t_k^2)),
// with s examples, c of them correct, t_k of class k, and p_k predicted as it; 0 where the root is 0. A missing
// prediction is wrong, and counts as an additional class without examples: in p_k, but not in the mean of F1.
// Source: Matthews 1975; Gorodkin 2004, "Comparing two K-category assignments by a K-category correlation coefficient",
// equation 8.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/metrics/scores.hpp"

namespace heddle::metrics {

// How many examples of each gold class were predicted as each class. Memory and time grow with the examples and with
// the classes, not with the square of these.
class Confusion {
 public:
  explicit Confusion(Index classes) : matches_(static_cast<std::size_t>(classes)) {}

  // An empty `predicted` counts as no prediction. Throws UsageError for a class outside.
  void add(Index gold, std::optional<Index> predicted);

  Index classes() const { return std::ssize(matches_); }
  Index total() const { return total_; }
  Index unanswered() const { return unanswered_; }
  const Matches& matches(Index of) const { return matches_[static_cast<std::size_t>(of)]; }
  // The counts above zero, by gold class and predicted class.
  std::map<std::pair<Index, Index>, Index> counts() const;

  // Throw DataError where there is no example.
  double accuracy() const;
  double macro_f1() const;
  double matthews() const;

 private:
  void check_total() const;

  std::vector<Matches> matches_;
  std::vector<std::pair<Index, Index>> pairs_;  // gold and predicted class of each example with both
  Index total_ = 0, correct_ = 0, unanswered_ = 0;
};

struct ClassificationReport {
  Index examples = 0, unanswered = 0;
  double accuracy = 0, macro_f1 = 0, matthews = 0;
  ByName<Scores> classes;
  ByName<ByName<Index>> confusion;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("examples", "number of examples"), self.examples);
    visitor(Field("unanswered", "number of examples without a prediction"), self.unanswered);
    visitor(Field("accuracy", "fraction of correct labels"), self.accuracy);
    visitor(Field("macro_f1", "mean F1 of the classes"), self.macro_f1);
    visitor(Field("matthews", "Matthews correlation of gold and predicted labels"), self.matthews);
    visitor(Field("classes", "scores of each class"), self.classes);
    visitor(
        Field("confusion",
              "for each gold label, the number of predictions of each label; of more than 100 labels those above zero"),
        self.confusion);
  }
};

// Precondition: a name for each class. With more than 100 classes, only counts above zero are in it. Throws DataError
// where there is no example.
ClassificationReport report(const Confusion& confusion, std::span<const std::string> names);

}  // namespace heddle::metrics
