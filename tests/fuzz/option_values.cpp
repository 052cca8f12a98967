// Values as flags, the environment and option files have them: what was read reads the same when it is written again.
#include "fuzz/target.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/values.hpp"

namespace heddle::fuzz {

namespace {

void lists(std::string_view input) {
  const std::vector<std::string> elements = cli::split_list(input);
  if (elements.empty() || elements.back().ends_with('\\')) return;  // which would hide a comma behind it
  std::vector<std::string> escaped;
  for (const std::string& dtype : elements) escaped.push_back(cli::escape_element(dtype));
  expect(cli::split_list(join(escaped, ",")) == elements, "a list that does not read as it was written");
}

}  // namespace

void option_values(std::string_view input) {
  read_or_refuse<UsageError>([&] { cli::parse_bool(input); });
  read_or_refuse<UsageError>([&] {
    const Index value = cli::parse_index(input);
    expect(cli::parse_index(cli::format(value)) == value, "a whole number that does not read as it was written");
  });
  read_or_refuse<UsageError>([&] {
    const double value = cli::parse_number(input);
    expect(cli::parse_number(cli::format(value)) == value, "a number that does not read as it was written");
  });
  read_or_refuse<UsageError>([&] { expect(cli::parse_duration(input) > 0, "no length of time"); });
  read_or_refuse<UsageError>([&] { lists(input); });
}

}  // namespace heddle::fuzz
