#include "tools/finetune/decision_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/version.hpp"
#include "tools/tasks/label_sets.hpp"

namespace heddle {

namespace {

constexpr std::size_t most_texts = 100, most_of_many = 20, most_errors = 25, longest_text = 600;

constexpr std::string_view page_style = R"(
:root { color-scheme: light dark; --ink: #1b1d21; --paper: #fdfdfb; --quiet: #565a62; --line: #dcdcd6; --edge: #84888f;
  --link: #1d4fb8; --mark: 29, 79, 184; --wrong: 184, 74, 0; }
@media (prefers-color-scheme: dark) { :root { --ink: #eae9e5; --paper: #14161a; --quiet: #a9aeb7; --line: #343942;
  --edge: #7b818c; --link: #93b8ff; --mark: 86, 140, 240; --wrong: 255, 120, 40; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1.25rem clamp(.75rem, 2.5vw, 2rem) 3rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h3 { font-size: 1rem; margin: .5rem 0; }
h2 { font-size: 1.125rem; margin: 2rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; } .quiet { color: var(--quiet); font-size: .875rem; }
a { color: var(--link); } :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
li { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: .5rem 0; } table { border-collapse: collapse; font-size: .9375rem; }
td, th { padding: .25rem 1rem .25rem 0; text-align: start; vertical-align: baseline; border-bottom: 1px solid var(--line); }
td, tbody th { min-width: 4.5rem; }
th { color: var(--quiet); font-size: .8125rem; } tbody th { color: var(--ink); font-size: inherit; font-weight: inherit; }
td.n, th.n { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.chosen > * { font-weight: 650; } td.text { min-width: 16rem; overflow-wrap: anywhere; }
.confusion td { border: 1px solid var(--line); padding: 0; min-width: 3.5rem; } .confusion thead th { padding: .25rem .5rem; }
.confusion td > * { display: block; padding: .375rem .625rem; } .confusion td a { color: inherit; }
section.texts { display: none; } section.texts:target { display: block; border-inline-start: 4px solid var(--link);
  padding-inline-start: 1rem; margin-top: 1rem; }
svg { display: block; max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .axis { stroke: var(--edge); fill: none; } svg .bar { fill: rgba(var(--mark), .8); } svg .ideal { stroke: var(--ink); stroke-dasharray: 4 3; }
svg .curve { stroke: rgb(var(--mark));
  stroke-width: 2; fill: none; }
summary { cursor: pointer; padding: .375rem 0; font-weight: 600; }
footer { margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line); }
)";

std::string html(std::string_view text) {
  std::string escaped;
  for (const char letter : printable(text)) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

std::string four(double value) {
  return format_fixed(value, 4);
}

std::string decimals(double value, int count) {
  return fmt::format("{:.{}f}", value, count);
}

std::string cell(std::string_view text, const char* kind = "") {
  return fmt::format("<td{}>{}</td>", *kind != '\0' ? fmt::format(" class=\"{}\"", kind) : "", html(text));
}
std::string number(std::string_view text) {
  return cell(text, "n");
}
std::string row_heading(std::string_view text) {
  return "<th scope=\"row\">" + html(text) + "</th>";
}
// Names with a "#" before them are of columns of numbers.
std::string headings(const std::vector<std::string>& names) {
  std::string row = "<thead><tr>";
  for (const std::string& name : names) {
    const bool is_number = name.starts_with('#');
    row += fmt::format("<th scope=\"col\"{}>{}</th>", is_number ? " class=\"n\"" : "", html(name.substr(is_number)));
  }
  return row + "</tr></thead>\n";
}

// A region that scrolls by keys, too.
std::string table_of(std::string_view name, std::string_view rows, const char* kind = "plain") {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\"><table class=\"{}\">{}</table></div>\n",
      html(name), kind, rows);
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string text = "<ul>\n";
  for (const std::string& line : lines) text += "<li>" + html(line) + "</li>\n";
  return lines.empty() ? "" : text + "</ul>\n";
}

// Cut after a whole character.
std::string cut(const std::string& text) {
  if (text.size() <= longest_text) return text;
  std::size_t end = longest_text;
  const auto is_within = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80; };
  while (end > 0 && is_within(end)) --end;
  return text.substr(0, end) + "…";
}

std::string shown_text(const data::LabelledText& example) {
  return cut(example.shown()) + (example.second_text ? " · " + cut(*example.second_text) : "");
}

std::string data_section(const Decision& decision) {
  std::string rows = headings({"label", "#examples", "#%"});
  const auto add = [&](std::string_view name, Index count) {
    rows += "<tr>" + row_heading(name) + number(std::to_string(count)) +
            number(decimals(100 * static_cast<double>(count) / static_cast<double>(decision.examples), 1)) + "</tr>\n";
  };
  Index others = std::accumulate(decision.counts.begin(), decision.counts.end(), Index{0});
  const std::vector<Index> labels = shown_labels(decision);
  for (const Index label : labels) {
    const Index count = decision.counts[static_cast<std::size_t>(label)];
    add(decision.labels.name(label), count);
    others -= count;
  }
  const Index hidden = decision.labels.size() - static_cast<Index>(labels.size());
  if (hidden > 0) add(counted(hidden, "rarer label", "rarer labels"), others);
  return "<h2>Data</h2>\n" + list_of(decision.facts) + table_of("labels", rows) + "<h2>Warnings</h2>\n" +
         (decision.warnings.empty() ? "<p>None.</p>\n" : list_of(decision.warnings));
}

std::string candidates_section(const Decision& decision) {
  std::string rows = headings(
      {"model", "#" + decision.metric, "#95 % interval", "#macro F1", "#log-loss", "#Brier", "#ECE", "#seconds"});
  for (const CandidateRow& row : decision.candidates) {
    rows += row.is_chosen ? "<tr class=\"chosen\">" : "<tr>";
    rows += row_heading(row.name + (row.is_chosen ? " (chosen)" : "")) + number(four(row.metric)) +
            number(four(row.low) + " to " + four(row.high));
    for (const double value : {row.macro_f1, row.log_loss, row.brier, row.ece}) rows += number(four(value));
    rows += number(decimals(row.seconds, 1)) + "</tr>\n";
  }
  return "<h2>Candidates</h2>\n" + table_of("candidates", rows) + list_of(decision.comparisons);
}

using Pair = std::pair<Index, Index>;  // gold label and prediction

std::map<Pair, std::vector<std::size_t>> confusion_of(const Decision& decision) {
  std::map<Pair, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < decision.data.texts.size(); ++i) {
    const auto gold = decision.labels.find(decision.data.texts[i].label);
    if (gold) cells[{*gold, decision.guesses.classes[i].label}].push_back(i);
  }
  const auto probability = [&](std::size_t i) { return decision.guesses.classes[i].probability; };
  for (auto& [pair, examples] : cells) std::ranges::stable_sort(examples, {}, probability);
  return cells;
}

std::string link_to(const Pair& pair, std::size_t examples) {
  return fmt::format("<a href=\"#c{}-{}\">{}</a>", pair.first, pair.second, examples);
}

// Target of a linked number: examples with a probability each.
std::string texts_of(const Decision& decision, const Pair& pair, const std::string& title,
                     const std::vector<std::pair<std::size_t, double>>& examples) {
  const std::size_t most = decision.labels.size() > 10 ? most_of_many : most_texts;
  std::vector<std::string> lines;
  for (const auto& [i, probability] : examples) {
    if (lines.size() == most) break;
    lines.push_back(decimals(probability, 3) + " · " + shown_text(decision.data.texts[i]));
  }
  return fmt::format(
      "<section class=\"texts\" id=\"c{}-{}\"><h3>{}, {} of {}</h3>\n{}<p><a href=\"#confusion\">Back to the "
      "table</a></p></section>\n",
      pair.first, pair.second, html(title), lines.size(), examples.size(), list_of(lines));
}

std::string confusion_matrix(const Decision& decision, const std::map<Pair, std::vector<std::size_t>>& cells) {
  const Index labels = decision.labels.size();
  std::string rows = "<thead><tr><td></td>";
  for (Index c = 0; c < labels; ++c) {
    rows += "<th scope=\"col\" class=\"n\">" + html(decision.labels.name(c)) + "</th>";
  }
  rows += "</tr></thead>\n";
  const auto count = [&](const Pair& pair) {
    const auto found = cells.find(pair);
    return found == cells.end() ? std::size_t{0} : found->second.size();
  };
  for (Index g = 0; g < labels; ++g) {
    rows += "<tr>" + row_heading(decision.labels.name(g));
    std::size_t of_row = 0;
    for (Index c = 0; c < labels; ++c) of_row += count({g, c});
    for (Index c = 0; c < labels; ++c) {
      const std::size_t examples = count({g, c});
      if (examples == 0) {
        rows += "<td class=\"n\"><span>0</span></td>";
        continue;
      }
      rows += fmt::format(
          "<td class=\"n\" style=\"background: rgba(var({}), {:.2f})\">{}</td>", g == c ? "--mark" : "--wrong",
          0.45 * static_cast<double>(examples) / static_cast<double>(of_row), link_to({g, c}, examples));
    }
    rows += "</tr>\n";
  }
  return "<p>Rows are gold labels, columns predictions. A number leads to its texts, the least certain first.</p>\n" +
         table_of("confusion matrix", rows, "confusion");
}

bool has_label_sets(const Decision& decision) {
  return !decision.guesses.labels.of_texts.empty();
}

// Texts that have a label or not and are given it or not, with the label's probability, the least certain first.
struct LabelTexts {
  double threshold;
  std::vector<std::pair<std::size_t, double>> found{}, missed{}, wrong{};
};
LabelTexts texts_of_label(const Decision& decision, Index label) {
  const LabelProbabilities& given = decision.guesses.labels;
  const auto at = static_cast<std::size_t>(label);
  LabelTexts texts{.threshold = threshold_of(given.thresholds, at)};
  for (std::size_t i = 0; i < given.of_texts.size(); ++i) {
    const double probability = given.of_texts[i][at];
    const bool is_gold = std::ranges::count(decision.data.texts[i].labels, decision.labels.name(label)) > 0;
    const bool is_given = probability >= texts.threshold;
    if (is_gold || is_given)
      (is_gold && is_given ? texts.found : is_gold ? texts.missed : texts.wrong).emplace_back(i, probability);
  }
  const auto probability = [](const auto& each) { return each.second; };
  std::ranges::stable_sort(texts.found, std::less(), probability);
  std::ranges::stable_sort(texts.missed, std::greater(), probability);
  std::ranges::stable_sort(texts.wrong, std::less(), probability);
  return texts;
}

std::string label_sets_section(const Decision& decision) {
  std::string rows = headings({"label", "#threshold", "#precision", "#recall", "#F1", "#found", "#missed", "#wrong"}),
              lists;
  for (const Index label : shown_labels(decision)) {
    const LabelTexts texts = texts_of_label(decision, label);
    const auto count = [](const auto& examples) { return static_cast<Index>(examples.size()); };
    const Index found = count(texts.found);
    const metrics::Scores scores = metrics::scores_of(
        {.gold = found + count(texts.missed), .predicted = found + count(texts.wrong), .correct = found});
    const std::string& name = decision.labels.name(label);
    rows += "<tr>" + row_heading(name);
    for (const double value : {texts.threshold, scores.precision, scores.recall, scores.f1})
      rows += number(four(value));
    Index list = 0;
    for (const auto& [title, examples] : {std::pair(" found", &texts.found), std::pair(" missed", &texts.missed),
                                          std::pair(" given wrongly", &texts.wrong)}) {
      const Pair place{label, list++};
      rows += "<td class=\"n\">" + (examples->empty() ? "0" : link_to(place, examples->size())) + "</td>";
      if (!examples->empty()) lists += texts_of(decision, place, name + title, *examples);
    }
    rows += "</tr>\n";
  }
  return "<h2 id=\"confusion\">Labels</h2>\n<p>A text is given a label whose probability is at least the threshold. A "
         "number leads to its texts with the probability, the least certain first.</p>\n" +
         table_of("labels of texts", rows) + lists;
}

std::string confusion_section(const Decision& decision) {
  if (has_label_sets(decision)) return label_sets_section(decision);
  std::map<Pair, std::vector<std::size_t>> cells = confusion_of(decision);
  std::string text = "<h2 id=\"confusion\">Confusion</h2>\n";
  if (decision.labels.size() <= most_labels_shown) {
    text += confusion_matrix(decision, cells);
  } else {
    std::vector<std::pair<Pair, std::vector<std::size_t>>> wrong;
    for (const auto& each : cells) {
      if (each.first.first != each.first.second) wrong.push_back(each);
    }
    std::ranges::stable_sort(wrong, std::greater(), [](const auto& each) { return each.second.size(); });
    if (wrong.size() > static_cast<std::size_t>(most_labels_shown)) wrong.resize(most_labels_shown);
    std::string rows = headings({"gold", "predicted", "#texts"});
    for (const auto& [pair, examples] : wrong) {
      rows += "<tr>" + cell(decision.labels.name(pair.first)) + cell(decision.labels.name(pair.second)) +
              "<td class=\"n\">" + link_to(pair, examples.size()) + "</td></tr>\n";
    }
    text += "<p>The most frequent confusions. A number leads to its texts, the least certain first.</p>\n" +
            table_of("confusions", rows);
    cells = {wrong.begin(), wrong.end()};
  }
  for (const auto& [pair, examples] : cells) {
    std::vector<std::pair<std::size_t, double>> texts;
    for (const std::size_t i : examples) texts.emplace_back(i, decision.guesses.classes[i].probability);
    const std::string title = decision.labels.name(pair.first) + " → " + decision.labels.name(pair.second);
    text += texts_of(decision, pair, title, texts);
  }
  return text;
}

// Labels that were missed or given wrongly, with the probability of what was decided.
std::string label_errors_section(const Decision& decision) {
  struct LabelError {
    std::size_t text;
    Index label;
    bool is_given;
    double probability;
  };
  std::vector<LabelError> errors;
  for (Index label = 0; label < decision.labels.size(); ++label) {
    const LabelTexts texts = texts_of_label(decision, label);
    for (const auto& [i, probability] : texts.missed) errors.push_back({i, label, false, 1 - probability});
    for (const auto& [i, probability] : texts.wrong) errors.push_back({i, label, true, probability});
  }
  std::ranges::stable_sort(errors, std::greater(), &LabelError::probability);
  if (errors.size() > most_errors) errors.resize(most_errors);
  if (errors.empty()) return "<h2>Most confident errors</h2>\n<p>None.</p>\n";
  std::string rows = headings({"#probability", "label", "error", "#line", "text"});
  for (const LabelError& error : errors) {
    const data::LabelledText& example = decision.data.texts[error.text];
    rows += "<tr>" + number(decimals(error.probability, 3)) + cell(decision.labels.name(error.label)) +
            cell(error.is_given ? "given wrongly" : "missed") + number(std::to_string(example.line)) +
            cell(shown_text(example), "text") + "</tr>\n";
  }
  return "<h2>Most confident errors</h2>\n" + table_of("most confident errors", rows);
}

std::string errors_section(const Decision& decision) {
  if (has_label_sets(decision)) return label_errors_section(decision);
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < decision.guesses.forecasts.size(); ++i) {
    if (!decision.guesses.forecasts[i].is_right) wrong.push_back(i);
  }
  std::ranges::stable_sort(wrong, std::greater(),
                           [&](std::size_t i) { return decision.guesses.classes[i].probability; });
  if (wrong.size() > most_errors) wrong.resize(most_errors);
  if (wrong.empty()) return "<h2>Most confident errors</h2>\n<p>None.</p>\n";
  std::string rows = headings({"#probability", "gold", "predicted", "#line", "text"});
  for (const std::size_t i : wrong) {
    const data::LabelledText& example = decision.data.texts[i];
    const Guess& guess = decision.guesses.classes[i];
    rows += "<tr>" + number(decimals(guess.probability, 3)) + cell(example.label) +
            cell(decision.labels.name(guess.label)) + number(std::to_string(example.line)) +
            cell(shown_text(example), "text") + "</tr>\n";
  }
  return "<h2>Most confident errors</h2>\n" + table_of("most confident errors", rows);
}

// A square with axes from 0 to 1, or other labels, at the left and below.
struct Plot {
  static constexpr double size = 320, left = 52, top = 28;
  std::string svg;

  explicit Plot(std::string_view name) {
    svg = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n",
                      left + size + 20, top + size + 40, html(name));
    svg += fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>\n", left, top, top + size, left + size);
  }
  static double x(double part) { return left + size * part; }
  static double y(double part) { return top + size * (1 - part); }

  void text(double at_x, double at_y, const char* anchor, std::string_view words) {
    svg +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x, at_y, anchor, html(words));
  }
  void tick_below(double part, std::string_view label) { text(x(part), top + size + 16, "middle", label); }
  void tick_left(double part, std::string_view label) { text(left - 6, y(part) + 4, "end", label); }
  std::string finished(std::string_view below, std::string_view above) {
    text(left + size / 2, top + size + 34, "middle", below);
    text(8, 14, "start", above);
    return std::exchange(svg, {}) + "</svg>\n";
  }
};

// The metric over the logarithm of the number of examples.
std::string curve_section(const Decision& decision) {
  const std::vector<CurvePoint>& points = decision.curve;
  if (points.empty()) return "";
  double low = points.front().low, high = points.front().high;
  for (const CurvePoint& point : points) {
    low = std::min(low, point.low);
    high = std::max(high, point.high);
  }
  if (!(high > low)) high = low + 1;
  const auto log_of = [](const CurvePoint& point) { return std::log(static_cast<double>(point.examples)); };
  const double first = log_of(points.front()), range = std::max(1e-9, log_of(points.back()) - first);
  const auto height = [&](double value) { return 0.05 + 0.9 * (value - low) / (high - low); };
  Plot plot("learning curve: " + decision.metric + " over the number of examples");
  std::string rows = headings({"#examples", "#" + decision.metric, "#95 % interval"}), line;
  for (const CurvePoint& point : points) {
    const double part = 0.06 + 0.88 * (log_of(point) - first) / range, x = Plot::x(part);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x, Plot::y(height(point.metric)));
    plot.svg +=
        fmt::format("<path class=\"curve\" d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h8M{3:.1f} {2:.1f}h8\"/>\n", x,
                    Plot::y(height(point.low)), Plot::y(height(point.high)), x - 4);
    plot.svg +=
        fmt::format("<circle class=\"bar\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", x, Plot::y(height(point.metric)));
    plot.tick_below(part, std::to_string(point.examples));
    rows += "<tr>" + number(std::to_string(point.examples)) + number(four(point.metric)) +
            number(four(point.low) + " to " + four(point.high)) + "</tr>\n";
  }
  plot.svg += "<path class=\"curve\" d=\"" + line + "\"/>\n";
  for (const double value : {low, (low + high) / 2, high}) plot.tick_left(height(value), decimals(value, 3));
  return "<h2>Learning curve</h2>\n<p>Models like the chosen one, of fewer examples: the " + html(decision.metric) +
         " on the same examples, which none of them was trained on, with 95 % intervals.</p>\n" +
         plot.finished("examples to learn from", decision.metric) + table_of("learning curve", rows);
}

// Accuracy over confidence, with a bar for each bin and the diagonal.
std::string reliability_section(const Decision& decision) {
  Plot plot("reliability: accuracy over probability");
  std::string rows = headings({"#probability", "#examples", "#mean probability", "#accuracy"});
  const std::vector<metrics::ConfidenceBin> bins = metrics::reliability(decision.guesses.forecasts);
  const double width = 1 / static_cast<double>(bins.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const metrics::ConfidenceBin& bin = bins[b];
    if (bin.examples == 0) continue;
    const double begin = width * static_cast<double>(b);
    plot.svg += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{} examples: mean "
        "probability {:.3f}, accuracy {:.3f}</title></rect>\n",
        Plot::x(begin) + 1, Plot::y(bin.accuracy), Plot::size * width - 2, Plot::size * bin.accuracy, bin.examples,
        bin.confidence, bin.accuracy);
    rows += "<tr>" + number(decimals(begin, 2) + " to " + decimals(begin + width, 2)) +
            number(std::to_string(bin.examples)) + number(decimals(bin.confidence, 3)) +
            number(decimals(bin.accuracy, 3)) + "</tr>\n";
  }
  plot.svg +=
      fmt::format("<path class=\"ideal\" d=\"M{} {}L{} {}\"/>\n", Plot::x(0), Plot::y(0), Plot::x(1), Plot::y(1));
  for (const double tick : {0.0, 0.5, 1.0}) {
    plot.tick_below(tick, decimals(tick, 1));
    plot.tick_left(tick, decimals(tick, 1));
  }
  const std::string of_labels =
      has_label_sets(decision) ? "Each label of each text is a prediction: it has the label or not. " : "";
  return "<h2>Reliability</h2>\n<p>" + of_labels +
         "Bars are the accuracy of the predictions whose probability is in a bin; where "
         "probabilities hold, they end at the diagonal.</p>\n" +
         plot.finished("probability", "accuracy") + "<details><summary>Numbers</summary>" +
         table_of("reliability", rows) + "</details>\n";
}

std::string words_section(const Decision& decision) {
  std::string text = "<h2>Words that decide</h2>\n";
  if (decision.words.empty()) return text + "<p>The chosen model has no bag of words.</p>\n";
  std::string rows = headings({"label", "words and weights"});
  for (const auto& [label, weights] : decision.words) {
    std::string words;
    for (const auto& [word, weight] : weights) words += (words.empty() ? "" : ", ") + word + " " + decimals(weight, 2);
    rows += "<tr>" + row_heading(decision.labels.name(label)) + cell(words, "text") + "</tr>\n";
  }
  return text +
         (has_label_sets(decision) ? "<p>The weight of each word for a label."
                                   : "<p>The weight of each word for a class, above the mean of the classes.") +
         " A text's logits are the sum of its "
         "words' and pairs', divided by the root of their number.</p>\n" +
         table_of("words that decide", rows);
}

}  // namespace

std::vector<Index> shown_labels(const Decision& decision) {
  std::vector<Index> labels(decision.counts.size());
  std::iota(labels.begin(), labels.end(), Index{0});
  if (decision.labels.size() <= most_labels_shown) return labels;
  std::ranges::stable_sort(labels, std::greater(),
                           [&](Index label) { return decision.counts[static_cast<std::size_t>(label)]; });
  labels.resize(most_labels_shown);
  std::ranges::sort(labels);
  return labels;
}

void write_decision_page(const std::string& path, const Decision& decision) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>" +
      html(decision.output) + "</title>\n<style>" + std::string(page_style) +
      "</style></head>\n<body><main id=\"main\" aria-busy=\"false\">\n";
  page += "<h1>" + html(decision.output) + "</h1>\n<p>" + html(decision.sentence) + "</p>\n";
  for (const auto section : {data_section, candidates_section, curve_section, confusion_section, errors_section,
                             reliability_section, words_section}) {
    page += section(decision);
  }
  page += "<footer class=\"quiet\"><p>Written by heddle " + html(cli::version()) +
          ". The page is one file and loads nothing from the network.</p></footer>\n";
  formats::AtomicFile file(path);
  file.write(page + "</main></body></html>\n");
  file.commit();
}

}  // namespace heddle
