#include "libcore/text/code_points.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// In the order of unicode_table.py.
constexpr std::array<std::string_view, 30> category_names{"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                                          "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                                          "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

CodePoints united(std::initializer_list<std::string_view> categories) {
  CodePoints all;
  for (const std::string_view name : categories) all |= *category(name);
  return all;
}

}  // namespace

CodePoints::CodePoints(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::first);
  for (const Range& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

CodePoints CodePoints::operator|(const CodePoints& other) const {
  std::vector<Range> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return CodePoints(std::move(all));
}

CodePoints CodePoints::operator~() const {
  CodePoints result;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) result.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= last_code_point) result.ranges_.push_back({next, last_code_point});
  return result;
}

bool CodePoints::contains(char32_t code) const {
  const auto after = std::ranges::upper_bound(ranges_, code, {}, &Range::first);
  return after != ranges_.begin() && code <= std::prev(after)->last;
}

std::optional<CodePoints> category(std::string_view name) {
  const auto named = [&](std::string_view one) { return one == name || (name.size() == 1 && one.starts_with(name)); };
  if (std::ranges::none_of(category_names, named)) return std::nullopt;
  std::vector<CodePoints::Range> ranges;
  for (std::size_t i = 0; i < detail::category_range_count; ++i) {
    if (!named(category_names[detail::category_ranges[i] & 31])) continue;
    const bool last = i + 1 == detail::category_range_count;
    ranges.push_back(
        {detail::category_ranges[i] >> 5, last ? last_code_point : (detail::category_ranges[i + 1] >> 5) - 1});
  }
  return CodePoints(std::move(ranges));
}

const CodePoints& white_space() {
  static const CodePoints set = united({"Z"}) | CodePoints('\t', '\r') | CodePoints(0x85, 0x85);
  return set;
}

const CodePoints& word_characters() {
  static const CodePoints set = united({"L", "M", "Nd", "Nl", "Pc"}) | CodePoints(0x24B6, 0x24E9) |
                                CodePoints(0x1F130, 0x1F149) | CodePoints(0x1F150, 0x1F169) |
                                CodePoints(0x1F170, 0x1F189);
  return set;
}

}  // namespace heddle::text
