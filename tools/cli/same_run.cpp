#include "tools/cli/same_run.hpp"

#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

// One fact a line; the name ends where the text begins.
constexpr char name_end = '\x1f';

std::string joined(const std::vector<RankFact>& facts) {
  std::string text;
  for (const RankFact& fact : facts) text += fact.name + name_end + fact.text + "\n";
  return text;
}

std::pair<std::string, std::string> fact_in(const std::vector<std::string>& lines, std::size_t i) {
  if (i >= lines.size()) return {};
  const std::size_t end = lines[i].find(name_end);
  if (end == std::string::npos) return {"", lines[i]};
  return {lines[i].substr(0, end), lines[i].substr(end + 1)};
}

[[noreturn]] void report_difference(const std::string& of_first, const std::string& other, std::size_t rank) {
  const std::vector<std::string> first_lines = split(of_first, '\n'), lines = split(other, '\n');
  std::size_t i = 0;
  while (i < lines.size() && i < first_lines.size() && lines[i] == first_lines[i]) ++i;
  const auto [name, text] = fact_in(first_lines, i);
  const auto [other_name, other_text] = fact_in(lines, i);
  const auto shown = [](const std::string& value) { return value.empty() ? "nothing" : value; };
  throw DataError(concatenate("ranks differ in ", name.empty() ? other_name : name, ": rank 0 has ", shown(text),
                              ", and rank ", rank, " has ", name == other_name ? shown(other_text) : "none",
                              "; start all ranks with one command, the same programs and the same files"));
}

}  // namespace

void check_same_facts(const parallel::Group& group, const std::vector<RankFact>& facts) {
  const std::vector<std::string> all = group.gather(joined(facts));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) report_difference(all[0], all[rank], rank);
  }
}

}  // namespace heddle
