#include "formats/heddle/provenance.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <unordered_map>

#include "formats/files/checksum.hpp"
#include "formats/heddle/content.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

bool is_control(char letter) {
  return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
}

std::string quote(std::string_view word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  const bool readable = is_printable(word);
  std::string quoted = readable ? "'" : "$'";
  for (const char letter : word) {
    const auto byte = static_cast<unsigned char>(letter);
    if (readable) {
      quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
    } else if (is_control(letter) || byte >= 0x80 || letter == '\'' || letter == '\\') {
      quoted += "\\x";
      quoted += "0123456789abcdef"[byte >> 4];
      quoted += "0123456789abcdef"[byte & 15];
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

// The same for steps that are equal, and for no others.
std::string key_of(const ProvenanceStep& step) {
  std::string key = step.command_line + '\0' + step.created_by + '\0' + step.created_at;
  for (const ProvenanceInput& input : step.inputs) {
    key += concatenate('\0', input.role, '\0', input.name, '\0', input.size, '\0', input.xxh128, '\0', input.made_by);
  }
  return checksum_of(key.data(), key.size());
}

// Adds the steps of an input and returns the index of the one that made it.
Index merge(Provenance& provenance, const Provenance& made) {
  std::vector<Index> places;
  std::unordered_map<std::string, Index>& known = provenance.places;
  for (std::size_t i = known.size(); i < provenance.earlier.size(); ++i) {
    known.emplace(key_of(provenance.earlier[i]), static_cast<Index>(i));
  }
  const auto take_over = [&](ProvenanceStep step) {
    for (ProvenanceInput& input : step.inputs) {
      if (input.made_by >= 0) input.made_by = places.at(static_cast<std::size_t>(input.made_by));
    }
    const auto [same, is_new] = known.emplace(key_of(step), static_cast<Index>(provenance.earlier.size()));
    places.push_back(same->second);
    if (is_new) provenance.earlier.push_back(std::move(step));
  };
  for (const ProvenanceStep& step : made.earlier) take_over(step);
  take_over(made.own);
  return places.back();
}

std::string describe_step(const ProvenanceStep& step, Index number) {
  std::string text = concatenate("[", number, "] ", printable(step.command_line), "\n  ", printable(step.created_by),
                                 ", ", printable(step.created_at), "\n");
  for (const ProvenanceInput& input : step.inputs) {
    text += concatenate("  ", printable(input.role), ": ", printable(input.name), ", ", grouped(input.size),
                        " bytes, xxh128 ", printable(input.xxh128));
    if (input.made_by >= 0) text += concatenate(", made by [", input.made_by + 1, "]");
    text += "\n";
  }
  return text;
}

}  // namespace

std::string created_by() {
  return "heddle " HEDDLE_VERSION;
}

std::string created_at() {
  std::time_t now = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    const char* end = epoch + std::strlen(epoch);
    const auto [rest, error] = std::from_chars(epoch, end, now);
    check<UsageError>(error == std::errc() && rest == end, "SOURCE_DATE_EPOCH = ", epoch,
                      " is not a number of seconds");
  }
  std::tm utc{};
  std::array<char, 64> text{};
  check<UsageError>(::gmtime_r(&now, &utc) != nullptr, "SOURCE_DATE_EPOCH = ", now, " is not a valid time");
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string quote_command_line(std::span<const char* const> words) {
  std::vector<std::string> quoted;
  for (const char* word : words) quoted.push_back(quote(word));
  return join(quoted, " ");
}

std::string readable_path(const std::string& path) {
  return is_printable(path) ? path : quote(path);
}

std::string path_of_readable(const std::string& text) {
  const bool is_quoted = text.starts_with("$'") && text.ends_with('\'') && text.size() > 3;
  std::string path;
  for (std::size_t at = 2; is_quoted && at + 1 < text.size(); ++at) {
    unsigned byte = static_cast<unsigned char>(text[at]);
    if (text[at] == '\\') {
      const char* const digits = text.data() + at + 2;
      const bool is_hex = at + 4 < text.size() && text[at + 1] == 'x';
      if (!is_hex || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return text;
      at += 3;
    }
    path += static_cast<char>(byte);
  }
  return is_quoted ? path : text;
}

Provenance start_provenance(std::string command_line) {
  return {{}, {std::move(command_line), created_by(), created_at(), {}}};
}

void add_input(Provenance& provenance, const std::string& role, const std::string& path) {
  const FileChecksum checksum = checksum_file(path);
  ProvenanceInput input{role, readable_path(path), checksum.size, checksum.xxh128};
  if (looks_like_hdf5(path)) {
    const InputFile file(path);
    input.content = content_checksum(file);
    const Provenance made = file.provenance();
    add_input(provenance, std::move(input), &made);
  } else {
    add_input(provenance, std::move(input));
  }
}

void add_input(Provenance& provenance, ProvenanceInput input, const Provenance* made) {
  input.made_by = made == nullptr ? -1 : merge(provenance, *made);
  provenance.own.inputs.push_back(std::move(input));
}

bool same_content(const ProvenanceInput& a, const ProvenanceInput& b) {
  return a.xxh128 == b.xxh128 || (!a.content.empty() && a.content == b.content);
}

std::string describe(const Provenance& provenance) {
  std::string text;
  Index number = 1;
  for (const ProvenanceStep& step : provenance.earlier) text += describe_step(step, number++) + "\n";
  return text + describe_step(provenance.own, number);
}

namespace {

// At most so many bytes, cut where characters begin.
std::string without_middle(const std::string& text, std::size_t longest) {
  if (text.size() <= longest) return text;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  const std::string mark = " ... ";
  std::size_t first = (longest - mark.size()) / 2, last = text.size() - first;
  while (first > 0 && continues(first)) --first;
  while (last < text.size() && continues(last)) ++last;
  return text.substr(0, first) + mark + text.substr(last);
}

}  // namespace

ProvenanceTable to_table(const Provenance& provenance) {
  constexpr std::size_t largest_column = std::size_t{16} << 20, least_line = 1024;  // bytes
  const std::size_t longest = std::max(least_line, largest_column / (provenance.earlier.size() + 1));
  ProvenanceTable table;
  const auto add = [&](const ProvenanceStep& step) {
    for (const ProvenanceInput& input : step.inputs) {
      table.inputs.step.push_back(static_cast<Index>(table.command_line.size()));
      table.inputs.role.push_back(input.role);
      table.inputs.name.push_back(input.name);
      table.inputs.size.push_back(input.size);
      table.inputs.xxh128.push_back(input.xxh128);
      table.inputs.made_by.push_back(input.made_by);
      table.inputs.content.push_back(input.content);
    }
    table.command_line.push_back(without_middle(step.command_line, longest));
    table.created_by.push_back(step.created_by);
    table.created_at.push_back(step.created_at);
  };
  for (const ProvenanceStep& step : provenance.earlier) add(step);
  add(provenance.own);
  return table;
}

Provenance from_table(const ProvenanceTable& table, const std::string& where) {
  const ProvenanceInputTable& inputs = table.inputs;
  const std::size_t steps = table.command_line.size(), rows = inputs.step.size();
  check<DataError>(steps > 0 && table.created_by.size() == steps && table.created_at.size() == steps &&
                       inputs.role.size() == rows && inputs.name.size() == rows && inputs.size.size() == rows &&
                       inputs.xxh128.size() == rows && inputs.made_by.size() == rows &&
                       (inputs.content.empty() || inputs.content.size() == rows),
                   where, ": columns of different lengths");
  std::vector<ProvenanceStep> all(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    all[i] = {table.command_line[i], table.created_by[i], table.created_at[i], {}};
  }
  for (std::size_t i = 0; i < rows; ++i) {
    check<DataError>(inputs.step[i] >= 0 && inputs.step[i] < static_cast<Index>(steps) && inputs.made_by[i] >= -1 &&
                         inputs.made_by[i] < inputs.step[i],
                     where, ": input ", i, " belongs to no step");
    all[static_cast<std::size_t>(inputs.step[i])].inputs.push_back({inputs.role[i], inputs.name[i], inputs.size[i],
                                                                    inputs.xxh128[i], inputs.made_by[i],
                                                                    inputs.content.empty() ? "" : inputs.content[i]});
  }
  Provenance provenance;
  provenance.own = std::move(all.back());
  all.pop_back();
  provenance.earlier = std::move(all);
  return provenance;
}

}  // namespace heddle::formats
