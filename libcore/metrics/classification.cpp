#include "libcore/metrics/classification.hpp"

#include <cmath>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

void Confusion::add(Index gold, std::optional<Index> predicted) {
  const Index second = predicted.value_or(gold);
  check<UsageError>(gold >= 0 && gold < classes_ && second >= 0 && second < classes_, "classes ", gold, " and ", second,
                    " are not both among the ", classes_);
  ++total_;
  if (!predicted) {
    ++unanswered_;
    ++unanswered_of_[static_cast<std::size_t>(gold)];
    return;
  }
  ++counts_[static_cast<std::size_t>(gold * classes_ + second)];
  if (gold == predicted) ++correct_;
}

Matches Confusion::matches(Index of) const {
  Matches matches{.gold = unanswered_of_[static_cast<std::size_t>(of)], .correct = count(of, of)};
  for (Index other = 0; other < classes_; ++other) {
    matches.gold += count(of, other);
    matches.predicted += count(other, of);
  }
  return matches;
}

void Confusion::check_total() const {
  check<DataError>(total_ > 0, "no example to evaluate");
}

double Confusion::accuracy() const {
  check_total();
  return static_cast<double>(correct_) / static_cast<double>(total_);
}

double Confusion::macro_f1() const {
  check_total();
  double sum = 0;
  Index present = 0;
  for (Index of = 0; of < classes_; ++of) {
    const Matches found = matches(of);
    if (found.gold + found.predicted == 0) continue;
    sum += scores_of(found).f1;
    ++present;
  }
  return sum / static_cast<double>(present);
}

double Confusion::matthews() const {
  check_total();
  const auto total = static_cast<double>(total_);
  double both = 0, gold = 0, predicted = static_cast<double>(unanswered_) * static_cast<double>(unanswered_);
  for (Index of = 0; of < classes_; ++of) {
    const Matches found = matches(of);
    const auto t = static_cast<double>(found.gold), p = static_cast<double>(found.predicted);
    both += p * t;
    gold += t * t;
    predicted += p * p;
  }
  const double root = std::sqrt((total * total - predicted) * (total * total - gold));
  return root == 0 ? 0 : (static_cast<double>(correct_) * total - both) / root;
}

ClassificationReport report(const Confusion& confusion, std::span<const std::string> names) {
  ClassificationReport result{.examples = confusion.total(),
                              .unanswered = confusion.unanswered(),
                              .accuracy = confusion.accuracy(),
                              .macro_f1 = confusion.macro_f1(),
                              .matthews = confusion.matthews(),
                              .classes = {},
                              .confusion = {}};
  for (Index gold = 0; gold < confusion.classes(); ++gold) {
    const std::string& name = names[static_cast<std::size_t>(gold)];
    result.classes.entries.emplace_back(name, scores_of(confusion.matches(gold)));
    ByName<Index> row;
    for (Index predicted = 0; predicted < confusion.classes(); ++predicted) {
      row.entries.emplace_back(names[static_cast<std::size_t>(predicted)], confusion.count(gold, predicted));
    }
    result.confusion.entries.emplace_back(name, std::move(row));
  }
  return result;
}

}  // namespace heddle::metrics
