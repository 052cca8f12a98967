// Values of a column of labels, as texts, become numbers of classes or numbers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/data/graphs.hpp"

namespace heddle::formats {

// The number that the whole text is, finite; nothing for another text.
std::optional<double> number_in(std::string_view text);

// Collects the values of a column, then says what they are: classes where one is other text than a number, where all
// are 0 or 1, or where they are few whole numbers (at most ten different ones, each twenty times on average); else
// numbers. "" is a value that is not known.
class LabelValues {
 public:
  explicit LabelValues(std::string name) { column_.name = std::move(name); }

  void see(std::string_view value);
  // After all were seen: classes in the order of their bytes. Throws DataError, which `file` begins, for more than
  // most_classes classes.
  const data::TargetColumn& settle(const std::string& file);
  // After settle().
  double value(std::string_view text) const;

 private:
  static constexpr std::size_t most_classes = 100'000;

  data::TargetColumn column_;
  std::map<std::string, double, std::less<>> classes_;
  bool are_numbers_ = true, are_whole_ = true;
  Index seen_ = 0;
};

}  // namespace heddle::formats
