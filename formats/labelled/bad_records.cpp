#include "formats/labelled/bad_records.hpp"

#include <algorithm>

#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr std::size_t most_listed = 20;

}  // namespace

void BadRecords::add(Index line, std::string_view problem) {
  const bool is_listed = bad_.size() < most_listed;
  bad_.push_back({total(), line});
  if (!is_listed) return;
  const std::string prefix = file_ + ":";
  std::string place;
  if (const std::string_view rest = problem.substr(std::min(prefix.size(), problem.size()));
      problem.starts_with(prefix) && !rest.starts_with(' ')) {
    place = rest.substr(0, rest.find(": "));
    problem = rest.substr(std::min(place.size() + 2, rest.size()));
  }
  auto known = std::ranges::find(problems_, problem, &Problem::reason);
  if (known == problems_.end()) known = problems_.insert(known, {std::string(problem), {}});
  if (!place.empty()) known->places.push_back(place);
}

// "FILE:2: the label is empty (lines 5, 7 too); line 6: the number of columns is 1, not 2"
std::string BadRecords::listed(std::size_t most) const {
  const auto lines = [](const std::vector<std::string>& places) {
    return (places.size() == 1 ? "line " : "lines ") + join(places);
  };
  std::vector<std::string> list;
  for (const auto& [reason, places] : problems_) {
    if (list.size() == most) break;
    if (places.empty()) {
      const bool is_known = !list.empty() && reason.starts_with(file_ + ": ");
      list.push_back(reason.substr(is_known ? file_.size() + 2 : 0));
    } else if (!list.empty()) {
      list.push_back(concatenate(lines(places), ": ", reason));
    } else {
      list.push_back(concatenate(file_, ":", places.front(), ": ", reason));
      if (places.size() > 1) list.back() += concatenate(" (", lines({places.begin() + 1, places.end()}), " too)");
    }
  }
  return join(list, "; ");
}

void BadRecords::check() const {
  if (bad_.empty() || (are_left_out() && good_ > 0)) return;
  const auto count = static_cast<Index>(bad_.size());
  const std::string counts =
      count == 1 ? "" : concatenate("; ", grouped(count), " of ", grouped(total()), " records cannot be used");
  const std::string advice = good_ == 0 || option_.empty()
                                 ? ""
                                 : concatenate("; ", option_, count == 1 ? " leaves it out" : " leaves them out");
  throw DataError(listed(problems_.size()) + counts + advice);
}

std::optional<std::string> BadRecords::note() const {
  if (bad_.empty() || !are_left_out()) return std::nullopt;
  constexpr std::size_t most = 3;
  return concatenate("left out ", grouped(static_cast<long long>(bad_.size())), " of ", grouped(total()),
                     " records: ", listed(most), problems_.size() > most ? "; …" : "");
}

}  // namespace heddle::formats
