#include "formats/graphs/label_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "libcore/base/error.hpp"

namespace heddle::formats {

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

void LabelValues::see(std::string_view value) {
  if (value.empty()) return;
  ++seen_;
  const std::optional<double> number = number_in(value);
  are_numbers_ = are_numbers_ && number;
  are_whole_ = are_whole_ && number && *number == std::floor(*number);
  if (classes_.size() <= most_classes && !classes_.contains(value)) classes_.emplace(value, 0);
}

const data::TargetColumn& LabelValues::settle(const std::string& file) {
  constexpr std::size_t few = 10, often = 20;
  const std::size_t different = classes_.size();
  const auto is_bit = [](const auto& entry) { return entry.first == "0" || entry.first == "1"; };
  const bool are_bits = std::ranges::all_of(classes_, is_bit);
  const bool are_few = are_whole_ && different <= few && static_cast<std::size_t>(seen_) >= often * different;
  if (are_numbers_ && !are_bits && !are_few) {
    classes_.clear();
    return column_;
  }
  check<DataError>(different <= most_classes, file, ": the column '", column_.name, "' has more than ", most_classes,
                   " different values, too many for classes");
  for (auto& [name, number] : classes_) {
    number = static_cast<double>(column_.classes.size());
    column_.classes.push_back(name);
  }
  return column_;
}

double LabelValues::value(std::string_view text) const {
  if (text.empty()) return data::unknown_target;
  if (column_.classes.empty()) return *number_in(text);
  return classes_.find(text)->second;
}

}  // namespace heddle::formats
