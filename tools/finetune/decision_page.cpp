#include "tools/finetune/decision_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/values.hpp"

namespace heddle {

namespace {

constexpr std::size_t most_texts = 100, most_errors = 25;

constexpr std::string_view page_style = R"(
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #d5d5d5; --mark: 0, 114, 178; --wrong: 213, 94, 0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e4; --paper: #161616; --line: #444; --mark: 86, 180, 233; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
       margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid var(--line); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; } td, th { padding: .2rem .6rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } tr.chosen { font-weight: bold; }
.confusion td a { display: block; color: inherit; } .confusion td { border: 1px solid var(--line); }
section.texts { display: none; } section.texts:target { display: block; border-left: 4px solid rgb(var(--mark));
  padding-left: 1rem; } a { color: rgb(var(--mark)); } .text { overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
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

std::string cell(std::string_view text, bool is_number = true, const char* tag = "td") {
  return fmt::format("<{0}{1}>{2}</{0}>", tag, is_number ? " class=\"n\"" : "", html(text));
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string text = "<ul>\n";
  for (const std::string& line : lines) text += "<li class=\"text\">" + html(line) + "</li>\n";
  return text + "</ul>\n";
}

std::string data_section(const Decision& decision) {
  std::string text = "<h2>Data</h2>\n" + list_of(decision.facts);
  const double all = std::accumulate(decision.counts.begin(), decision.counts.end(), 0.0);
  text += "<div class=\"scroll\"><table><tr>" + cell("label", false, "th") + cell("examples", true, "th") +
          cell("%", true, "th") + "</tr>\n";
  for (Index label = 0; label < decision.labels.size(); ++label) {
    const Index count = decision.counts[static_cast<std::size_t>(label)];
    text += "<tr>" + cell(decision.labels.name(label), false) + cell(std::to_string(count)) +
            cell(format_fixed(100 * static_cast<double>(count) / all, 1)) + "</tr>\n";
  }
  text += "</table></div>\n";
  return text + "<h2>Warnings</h2>\n" + (decision.warnings.empty() ? "<p>None.</p>\n" : list_of(decision.warnings));
}

std::string candidates_section(const Decision& decision) {
  std::string text = "<h2>Candidates</h2>\n<div class=\"scroll\"><table><tr>" + cell("model", false, "th");
  for (const char* const name :
       {decision.metric.c_str(), "95 % interval", "macro F1", "log-loss", "Brier", "ECE", "seconds"}) {
    text += cell(name, true, "th");
  }
  text += "</tr>\n";
  for (const CandidateRow& row : decision.candidates) {
    text += row.is_chosen ? "<tr class=\"chosen\">" : "<tr>";
    text += cell(row.name + (row.is_chosen ? " (chosen)" : ""), false) + cell(four(row.metric)) +
            cell(four(row.low) + " to " + four(row.high));
    for (const double value : {row.macro_f1, row.log_loss, row.brier, row.ece}) text += cell(four(value));
    text += cell(format_fixed(row.seconds, 1)) + "</tr>\n";
  }
  return text + "</table></div>\n" + list_of(decision.comparisons);
}

// The examples of each gold label and prediction, [labels * labels].
std::vector<std::vector<std::size_t>> confusion_of(const Decision& decision) {
  const auto labels = static_cast<std::size_t>(decision.labels.size());
  std::vector<std::vector<std::size_t>> cells(labels * labels);
  for (std::size_t i = 0; i < decision.data.texts.size(); ++i) {
    const auto gold = decision.labels.find(decision.data.texts[i].label);
    if (!gold) continue;
    cells[static_cast<std::size_t>(*gold) * labels + static_cast<std::size_t>(decision.guesses.classes[i].label)]
        .push_back(i);
  }
  return cells;
}

std::string example_line(const Decision& decision, std::size_t example) {
  const data::LabelledText& text = decision.data.texts[example];
  return concatenate(format_fixed(decision.guesses.classes[example].probability, 3), " · ", text.shown(),
                     text.second_text ? " · " + *text.second_text : "");
}

std::string confusion_section(const Decision& decision) {
  const auto labels = static_cast<std::size_t>(decision.labels.size());
  const std::vector<std::vector<std::size_t>> cells = confusion_of(decision);
  std::string table =
      "<h2>Confusion</h2>\n<p>Rows are gold labels, columns predictions. A number leads to its texts, "
      "the least certain first.</p>\n<div class=\"scroll\"><table class=\"confusion\"><tr><th></th>";
  std::string lists;
  for (std::size_t c = 0; c < labels; ++c) table += cell(decision.labels.name(static_cast<Index>(c)), true, "th");
  table += "</tr>\n";
  for (std::size_t g = 0; g < labels; ++g) {
    const std::string gold = decision.labels.name(static_cast<Index>(g));
    table += "<tr>" + cell(gold, false, "th");
    std::size_t of_row = 0;
    for (std::size_t c = 0; c < labels; ++c) of_row += cells[g * labels + c].size();
    for (std::size_t c = 0; c < labels; ++c) {
      std::vector<std::size_t> examples = cells[g * labels + c];
      if (examples.empty()) {
        table += "<td class=\"n\">0</td>";
        continue;
      }
      table +=
          fmt::format("<td class=\"n\" style=\"background: rgba(var({}), {:.2f})\"><a href=\"#c{}-{}\">{}</a></td>",
                      g == c ? "--mark" : "--wrong",
                      0.6 * static_cast<double>(examples.size()) / static_cast<double>(of_row), g, c, examples.size());
      std::ranges::stable_sort(examples, {}, [&](std::size_t i) { return decision.guesses.classes[i].probability; });
      std::vector<std::string> lines;
      for (const std::size_t i : examples) {
        if (lines.size() == most_texts) break;
        lines.push_back(example_line(decision, i));
      }
      lists += fmt::format("<section class=\"texts\" id=\"c{}-{}\"><h3>{} → {}, {} of {}</h3>\n{}</section>\n", g, c,
                           html(gold), html(decision.labels.name(static_cast<Index>(c))), lines.size(), examples.size(),
                           list_of(lines));
    }
    table += "</tr>\n";
  }
  return table + "</table></div>\n" + lists;
}

std::string errors_section(const Decision& decision) {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < decision.guesses.forecasts.size(); ++i) {
    if (!decision.guesses.forecasts[i].is_right) wrong.push_back(i);
  }
  std::ranges::stable_sort(wrong, std::greater(),
                           [&](std::size_t i) { return decision.guesses.classes[i].probability; });
  if (wrong.size() > most_errors) wrong.resize(most_errors);
  if (wrong.empty()) return "<h2>Most confident errors</h2>\n<p>None.</p>\n";
  std::string text =
      "<h2>Most confident errors</h2>\n<div class=\"scroll\"><table><tr>" + cell("probability", true, "th");
  for (const char* const name : {"gold", "predicted", "line", "text"}) text += cell(name, false, "th");
  text += "</tr>\n";
  for (const std::size_t i : wrong) {
    const data::LabelledText& example = decision.data.texts[i];
    const Guess& guess = decision.guesses.classes[i];
    text += "<tr>" + cell(format_fixed(guess.probability, 3)) + cell(example.label, false) +
            cell(decision.labels.name(guess.label), false) + cell(std::to_string(example.line)) +
            cell(example.shown(), false) + "</tr>\n";
  }
  return text + "</table></div>\n";
}

// Accuracy over confidence, with a bar for each bin and the diagonal.
std::string reliability_section(const Decision& decision) {
  constexpr double size = 320, margin = 40;
  std::string text =
      "<h2>Reliability</h2>\n<p>Bars are the accuracy of the predictions whose probability is in a bin; "
      "where probabilities hold, they end at the diagonal.</p>\n";
  text += fmt::format(
      "<svg viewBox=\"0 0 {0} {0}\" width=\"{0}\" role=\"img\" aria-label=\"accuracy over "
      "probability\">\n",
      size + 2 * margin);
  const std::vector<metrics::ConfidenceBin> bins = metrics::reliability(decision.guesses.forecasts);
  const double width = size / static_cast<double>(bins.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    if (bins[b].examples == 0) continue;
    const double height = size * bins[b].accuracy;
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" style=\"fill: rgba(var(--mark), "
        ".6)\"><title>{} examples: mean probability {:.3f}, accuracy {:.3f}</title></rect>\n",
        margin + width * static_cast<double>(b), margin + size - height, width - 2, height, bins[b].examples,
        bins[b].confidence, bins[b].accuracy);
  }
  const double low = margin, high = margin + size;
  text +=
      fmt::format("<path d=\"M{0} {0}V{1}H{1}M{0} {1}L{1} {0}\" fill=\"none\" stroke=\"currentColor\"/>\n", low, high);
  for (const double tick : {0.0, 0.5, 1.0}) {
    text += fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:.1f}</text>"
        "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.1f}</text>\n",
        low + size * tick, high + 16, tick, low - 6, high - size * tick + 4, tick);
  }
  text += fmt::format(
      "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">probability</text>"
      "<text x=\"{:.0f}\" y=\"{:.0f}\">accuracy</text>\n",
      low + size / 2, high + 34, low - 30, low - 12);
  return text + "</svg>\n";
}

std::string words_section(const Decision& decision) {
  std::string text = "<h2>Words that decide</h2>\n";
  if (decision.words.empty()) return text + "<p>The chosen model has no bag of words.</p>\n";
  text +=
      "<p>Of the bag: the weight of each word for a class, above the mean of the classes. A text's logits are the sum "
      "of "
      "its words' and pairs', divided by the root of their number.</p>\n<div class=\"scroll\"><table>\n";
  for (std::size_t label = 0; label < decision.words.size(); ++label) {
    std::string words;
    for (const auto& [word, weight] : decision.words[label]) {
      words += (words.empty() ? "" : ", ") + word + " " + format_fixed(weight, 2);
    }
    text +=
        "<tr>" + cell(decision.labels.name(static_cast<Index>(label)), false, "th") + cell(words, false) + "</tr>\n";
  }
  return text + "</table></div>\n";
}

}  // namespace

void write_decision_page(const std::string& path, const Decision& decision) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      html(decision.output) + "</title>\n<style>" + std::string(page_style) + "</style></head>\n<body><main>\n";
  page += "<h1>" + html(decision.output) + "</h1>\n<p>" + html(decision.sentence) + "</p>\n";
  for (const auto section :
       {data_section, candidates_section, confusion_section, errors_section, reliability_section, words_section}) {
    page += section(decision);
  }
  formats::AtomicFile file(path);
  file.write(page + "</main></body></html>\n");
  file.commit();
}

}  // namespace heddle
