#include "libcore/metrics/classification.hpp"

#include <cmath>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

void Confusion::add(Index gold, std::optional<Index> predicted) {
  const Index second = predicted.value_or(gold);
  check<UsageError>(gold >= 0 && gold < classes() && second >= 0 && second < classes(), "classes ", gold, " and ",
                    second, " are not both among the ", classes());
  ++total_;
  ++matches_[static_cast<std::size_t>(gold)].gold;
  if (!predicted) {
    ++unanswered_;
    return;
  }
  pairs_.emplace_back(gold, second);
  ++matches_[static_cast<std::size_t>(second)].predicted;
  if (gold != second) return;
  ++matches_[static_cast<std::size_t>(gold)].correct;
  ++correct_;
}

std::map<std::pair<Index, Index>, Index> Confusion::counts() const {
  std::map<std::pair<Index, Index>, Index> counts;
  for (const std::pair<Index, Index>& pair : pairs_) ++counts[pair];
  return counts;
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
  for (const Matches& found : matches_) {
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
  for (const Matches& found : matches_) {
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
  constexpr Index most_with_zeros = 100;
  auto counts = confusion.counts();
  if (confusion.classes() <= most_with_zeros) {
    for (Index gold = 0; gold < confusion.classes(); ++gold) {
      for (Index predicted = 0; predicted < confusion.classes(); ++predicted) counts[{gold, predicted}];
    }
  }
  for (Index gold = 0; gold < confusion.classes(); ++gold) {
    const std::string& name = names[static_cast<std::size_t>(gold)];
    result.classes.entries.emplace_back(name, scores_of(confusion.matches(gold)));
    result.confusion.entries.emplace_back(name, ByName<Index>());
  }
  for (const auto& [classes, count] : counts) {
    auto& row = result.confusion.entries[static_cast<std::size_t>(classes.first)].second.entries;
    row.emplace_back(names[static_cast<std::size_t>(classes.second)], count);
  }
  return result;
}

}  // namespace heddle::metrics
