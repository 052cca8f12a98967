#include "tools/inspect/texts/attention_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "libcore/analysis/attention_patterns.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/drawing/terminal.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"

namespace heddle {

namespace {

constexpr Index most_wide_cells = 40;  // more are one column of the terminal each

const char* shade(Real weight, bool wide) {
  static constexpr const char* wides[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  static constexpr const char* narrows[] = {" ", "░", "▒", "▓", "█"};
  if (!std::isfinite(weight)) return wide ? "??" : "?";
  std::size_t level = 0;
  for (const Real least : {Real(0.05), Real(0.15), Real(0.35), Real(0.6)}) level += weight >= least ? 1 : 0;
  return wide ? wides[level] : narrows[level];
}

// A link and where it is.
struct PlacedLink {
  const AttentionGroup* group;
  Index layer, head;  // from 1
  analysis::AttentionLink link;
};

std::vector<PlacedLink> strongest(const AttentionReport& report, Index top) {
  std::vector<PlacedLink> all;
  for (const AttentionGroup& group : report.groups) {
    for (std::size_t layer = 0; layer < group.summaries.size(); ++layer) {
      for (Index head = 0; head < group.heads; ++head) {
        for (const auto& link : group.summaries[layer][static_cast<std::size_t>(head)].links) {
          if (link.weight == 0 || (group.causal && link.query == 0)) continue;
          all.push_back({&group, group.numbers[layer], group.head_number(head), link});
        }
      }
    }
  }
  std::ranges::stable_sort(all, std::greater{}, [](const PlacedLink& placed) { return placed.link.weight; });
  if (std::ssize(all) > top) all.resize(static_cast<std::size_t>(top));
  return all;
}

std::string head_text(Index head) {
  return head == 0 ? "mean" : std::to_string(head);
}

// Target of more than four fifths of a head's weight, or "".
std::string only_of(const HeadSummary& head, bool same) {
  constexpr double most = 0.8;
  if (head.separators >= most) return "[SEP]";
  if (same && head.pattern.own >= most) return "itself";
  if (same && head.pattern.previous >= most) return "previous";
  if (same && head.pattern.next >= most) return "next";
  return head.pattern.first >= most ? "first" : "";
}

// Keys of a text of its own have neighbours.
void write_heads(std::ostream& out, const AttentionGroup& group) {
  const bool same = group.query == group.key;
  std::vector<std::vector<std::string>> rows{{"layer", "head", "first"}};
  if (same) rows.front().insert(rows.front().end(), {"previous", "itself"});
  if (same && !group.causal) rows.front().push_back("next");
  if (same) rows.front().push_back("distance");
  rows.front().insert(rows.front().end(), {"bits", "only"});
  for (std::size_t layer = 0; layer < group.summaries.size(); ++layer) {
    for (Index head = 0; head < group.heads; ++head) {
      const analysis::HeadPattern& pattern = group.summaries[layer][static_cast<std::size_t>(head)].pattern;
      const auto number = [](double value, int digits) {
        return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string("nan");
      };
      std::vector<std::string> row{std::to_string(group.numbers[layer]), head_text(group.head_number(head)),
                                   number(pattern.first, 2)};
      if (same) row.insert(row.end(), {number(pattern.previous, 2), number(pattern.own, 2)});
      if (same && !group.causal) row.push_back(number(pattern.next, 2));
      if (same) row.push_back(number(pattern.distance, 1));
      row.insert(row.end(),
                 {number(pattern.bits, 2), only_of(group.summaries[layer][static_cast<std::size_t>(head)], same)});
      rows.push_back(row);
    }
  }
  out << group.title() << "\n" << text_table(rows, std::string(rows.front().size() - 1, 'r') + "l");
}

std::size_t widest(const std::vector<std::string>& labels) {
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, display_width(label));
  return width;
}

// The column with the largest weight of a row; "?" where a weight is not finite.
std::string largest(const Real* row, const std::vector<std::string>& columns) {
  const Real* const end = row + columns.size();
  if (!std::all_of(row, end, [](Real weight) { return std::isfinite(weight); })) return "?";
  return columns[static_cast<std::size_t>(std::max_element(row, end) - row)];
}

std::string numbered(const std::vector<std::string>& labels, Index at) {
  return fmt::format("{} {}", at + 1, labels[static_cast<std::size_t>(at)]);
}

void write_links(std::ostream& out, const Tensor& weights, const std::vector<std::string>& rows,
                 const std::vector<std::string>& columns, const WithoutShades& options) {
  std::vector<std::vector<std::string>> table{{"weight", "from", "to"}};
  for (const auto& link : analysis::strongest_links(weights, links_for(options.top), options.hides)) {
    if (std::ssize(table) > options.top || link.weight == 0) break;
    if (options.causal && link.query == 0) continue;
    table.push_back({format_fixed(link.weight, 4), numbered(rows, link.query), numbered(columns, link.key)});
  }
  if (table.size() > 1) out << "\nstrongest links\n" << text_table(table, "rll");
}

}  // namespace

void write_shades(std::ostream& out, const Tensor& weights, const std::vector<std::string>& rows,
                  const std::vector<std::string>& columns, const WithoutShades& otherwise) {
  const std::size_t width = widest(rows), room = output_columns();
  const auto count = static_cast<Index>(columns.size());
  const bool wide = count <= most_wide_cells;
  if (width + 4 + (wide ? 2 : 1) * columns.size() + widest(columns) > room) {
    const bool fits = std::max(std::ssize(rows), std::ssize(columns)) <= most_picture_tokens;
    out << fmt::format(
        "a row of {} shades is wider than {} columns; -o writes all weights into a file that ends in {}\n", count, room,
        fits ? otherwise.files : ".tsv");
    return write_links(out, weights, rows, columns, otherwise);
  }
  const Real* row = weights.data();
  for (const std::string& label : rows) {
    out << std::string(width - display_width(label), ' ') << label << " |";
    for (Index j = 0; j < count; ++j) out << shade(row[j], wide);
    out << "| " << largest(row, columns) << '\n';
    row += count;
  }
}

void write_patterns(std::ostream& out, const AttentionReport& report, Index top) {
  for (const AttentionGroup& group : report.groups) {
    if (&group != &report.groups.front()) out << '\n';
    write_heads(out, group);
  }
  const bool several = report.groups.size() > 1;
  std::vector<std::vector<std::string>> rows{{"weight", "layer", "head", "from", "to"}};
  if (several) rows.front().push_back("of");
  const auto token = [&](std::size_t text, Index at) { return numbered(report.texts[text].labels, at); };
  for (const auto& [group, layer, head, link] : strongest(report, top)) {
    rows.push_back({format_fixed(link.weight, 4), std::to_string(layer), head_text(head),
                    token(group->query, link.query), token(group->key, link.key)});
    if (several) rows.back().push_back(group->name);
  }
  if (rows.size() == 1) return;
  out << "\nstrongest links\n" << text_table(rows, several ? "rrrlll" : "rrrll");
}

}  // namespace heddle
