#include <fmt/format.h>

#include <algorithm>

#include "formats/archives/text_archive.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/inspect/files/loss_curves.hpp"
#include "tools/inspect/files/summary.hpp"
#include "tools/inspect/files/weight_table.hpp"

namespace heddle {

namespace {

constexpr std::size_t shown_pieces = 12;

// The unit is what tokens are counted by: documents, or texts of pairs.
std::string statistics_text(const TokenStatistics& statistics, const TokenCounts& counts, const std::string& unit) {
  const auto percentage = [&](Index count) {
    const double part = counts.tokens > 0 ? 100 * static_cast<double>(count) / static_cast<double>(counts.tokens) : 0;
    return format_fixed(part, 2) + " %";
  };
  std::string text = concatenate("used        ", grouped(statistics.used), " of the vocabulary\n", "special     ",
                                 grouped(statistics.special), statistics.special == 1 ? " token, " : " tokens, ",
                                 percentage(statistics.special), "\nunknown     ", grouped(statistics.unknown),
                                 statistics.unknown == 1 ? " token, " : " tokens, ", percentage(statistics.unknown),
                                 "\nlengths     ", grouped(statistics.shortest), " to ", grouped(statistics.longest),
                                 " tokens per ", unit, ", median ", grouped(statistics.median), "\n");
  std::vector<std::vector<std::string>> rows;
  for (const PieceCount& each : statistics.frequent) {
    rows.push_back({std::to_string(each.id), each.piece, grouped(each.count), percentage(each.count)});
  }
  return text + (rows.empty() ? "" : "\n" + text_table(rows, "rlrr"));
}

std::string tokens_text(const TokenCounts& counts, const std::string& unit) {
  std::string text = concatenate("tokens      ", grouped(counts.tokens), fmt::format("\n{:<12}", unit + "s"),
                                 grouped(counts.documents), "\nvocabulary  ", grouped(counts.vocabulary),
                                 "\ntext bytes  ", grouped(counts.text_bytes), "\n");
  if (counts.tokens > 0 && counts.text_bytes > 0) {
    const auto tokens = static_cast<double>(counts.tokens), bytes = static_cast<double>(counts.text_bytes);
    text += concatenate("density     ", format_fixed(tokens / bytes, 3), " tokens per byte, ",
                        format_fixed(bytes / tokens, 2), " bytes per token\n");
  }
  return counts.statistics ? text + statistics_text(*counts.statistics, counts, unit) : text;
}

std::string pieces_text(const std::vector<std::string>& pieces) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& piece : pieces) rows.push_back({std::to_string(rows.size()), piece});
  return text_table(rows, "rl");
}

std::string special_tokens_text(const text::TokenizerModel& model) {
  std::vector<std::string> tokens;
  for (const Index id : model.special_tokens) {
    const char* const role = id == model.end_of_text ? " (end of text)" : id == model.unknown ? " (unknown)" : "";
    tokens.push_back(concatenate(id, " ", model.pieces.at(static_cast<std::size_t>(id)), role));
  }
  return tokens.empty() ? "none" : join(tokens);
}

// Spread over the vocabulary.
std::string some_pieces(const text::TokenizerModel& model) {
  std::vector<std::string> pieces;
  const std::size_t size = model.pieces.size(), count = std::min(size, shown_pieces);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t id = i * size / count;
    pieces.push_back(concatenate(id, " ", model.pieces[id]));
  }
  return join(pieces, "  ");
}

std::string tokenizer_text(const text::TokenizerModel& model) {
  std::string text = concatenate("kind         ", to_text(model.kind), "\nvocabulary   ",
                                 grouped(static_cast<Index>(model.pieces.size())), "\n");
  if (!model.merges.empty()) text += "merges       " + grouped(static_cast<Index>(model.merges.size()) / 2) + "\n";
  return text + "special      " + special_tokens_text(model) + "\npieces       " + some_pieces(model) +
         "\nfingerprint  " + fingerprint(model) + "\n";
}

std::string at_step(const CurvePoint& point) {
  return fmt::format("{} at step {}", format_fixed(point.loss, 4), grouped(static_cast<Index>(point.step)));
}

}  // namespace

std::string history_text(const formats::History& history) {
  const LossCurves curves = loss_curves(history);
  if (curves.empty()) return "nothing yet\n";
  std::string text = terminal_chart(curves);
  if (!curves.train.empty()) text += "training loss    " + at_step(curves.train.back()) + "\n";
  if (curves.valid.empty()) return text;
  const CurvePoint best = *std::ranges::min_element(curves.valid, {}, &CurvePoint::loss);
  return text + "validation loss  " + at_step(curves.valid.back()) + ", lowest " + at_step(best) + "\n";
}

std::string text_section(const std::string& title, const std::string& content) {
  std::string text = "\n" + title + "\n";
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    if (end > begin) text += "  ";
    text += content.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

std::string task_text(const models::TaskConfig& task) {
  const std::string text = formats::archive_text(models::TaskSettings{task});
  if (task.left_out == 0) return text;
  return concatenate(text, counted(task.left_out, "record", "records"), " of the training files could not be used\n");
}

std::string as_text(const Summary& summary) {
  std::string text;
  if (!summary.description.empty()) {
    text += printable(summary.name) + ": " + printable(summary.description) + "\n";
    if (summary.parameters) text += grouped(*summary.parameters) + " parameters\n";
    if (summary.head_parameters) text += grouped(*summary.head_parameters) + " parameters in the head\n";
  }
  if (summary.config) text += text_section("Configuration", formats::archive_text(*summary.config));
  if (summary.objective) text += text_section("Objective", formats::archive_text(*summary.objective));
  if (summary.task) text += text_section("Task", task_text(*summary.task));
  if (summary.adapters) text += text_section("Adapters", formats::archive_text(*summary.adapters));
  if (summary.ensemble) text += text_section("Models", formats::archive_text(*summary.ensemble));
  if (summary.weights) text += text_section("Weights", weight_table(*summary.weights));
  if (summary.tokens) text += text_section("Tokens", tokens_text(*summary.tokens, "document"));
  if (summary.pairs) {
    text += text_section("Source tokens", tokens_text(summary.pairs->source, "text"));
    text += text_section("Target tokens", tokens_text(summary.pairs->target, "text"));
  }
  if (summary.graphs) text += text_section("Graphs", as_text(*summary.graphs));
  if (summary.pieces) text += text_section("Vocabulary", pieces_text(*summary.pieces));
  if (summary.source_tokenizer) {
    text += text_section("Source tokenizer", tokenizer_text(*summary.source_tokenizer));
  }
  if (summary.tokenizer) {
    text +=
        text_section(summary.source_tokenizer ? "Target tokenizer" : "Tokenizer", tokenizer_text(*summary.tokenizer));
  }
  if (summary.history) text += text_section("History", history_text(*summary.history));
  if (summary.provenance) text += text_section("Provenance", describe(*summary.provenance));
  return text.starts_with('\n') ? text.substr(1) : text;
}

}  // namespace heddle
