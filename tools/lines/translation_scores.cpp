#include "tools/lines/translation_scores.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/bootstrap.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

void TranslationScores::add(const std::string& translation, std::span<const std::string> references) {
  references_ = std::ssize(references);
  unspaced_ += metrics::is_unspaced(references.front()) ? 1 : 0;
  lines_.push_back(metrics::count_translation(translation, references, words_));
}

void TranslationScores::warn_of_words(const cli::Arguments& arguments) const {
  const bool cuts_characters = words_ == metrics::BleuWords::zh || words_ == metrics::BleuWords::characters;
  if (cuts_characters || 2 * unspaced_ <= lines()) return;
  arguments.warn(concatenate(
      "BLEU: the references are in a script without spaces between words, such as Chinese or Japanese, where ",
      to_text(words_), " takes a whole line for a word; use chrF2, or write the translations to a file and run ",
      "inspect translations --tokenize zh or char"));
}

void TranslationScores::write(std::ostream& out, bool json, const cli::Arguments& arguments) const {
  const metrics::TranslationReport report = metrics::report(lines_);
  const auto bleu_of = [&](std::span<const Index> sample) {
    return metrics::bleu(metrics::sum_of(lines_, sample).bleu);
  };
  const metrics::Interval interval =
      metrics::bootstrap_interval(lines(), bleu_of, {.seed = static_cast<std::uint64_t>(arguments.common().seed)});
  const std::string signature = metrics::bleu_signature(references_, words_);
  warn_of_words(arguments);
  if (json) {
    out << json_line({{"lines", report.lines},
                      {"bleu", report.bleu},
                      {"bleu_interval", {{"level", 0.95}, {"low", interval.low}, {"high", interval.high}}},
                      {"bleu_signature", signature},
                      {"precisions", report.precisions},
                      {"brevity_penalty", report.brevity_penalty},
                      {"chrf", report.chrf},
                      {"chrf_signature", metrics::chrf_signature(references_)},
                      {"chrf_words", report.chrf_words},
                      {"chrf_words_signature", metrics::chrf_signature(references_, true)},
                      {"ter", report.ter},
                      {"ter_signature", metrics::ter_signature(references_)},
                      {"exact", report.exact_match}})
        << "\n";
    return;
  }
  const auto line = [&](const char* name, double value, const std::string& signature_of) {
    out << fmt::format("{:<12} {}  ({})\n", name, format_fixed(value, 2), signature_of);
  };
  line("BLEU", report.bleu, signature);
  out << fmt::format("             95 % confidence interval from {} to {}\n", format_fixed(interval.low, 2),
                     format_fixed(interval.high, 2))
      << "precisions  ";
  for (const double precision : report.precisions) out << ' ' << format_fixed(precision, 1);
  out << fmt::format(", brevity penalty {}\n", format_fixed(report.brevity_penalty, 3));
  line("chrF2", report.chrf, metrics::chrf_signature(references_));
  line("chrF2++", report.chrf_words, metrics::chrf_signature(references_, true));
  line("TER", report.ter, metrics::ter_signature(references_));
  out << fmt::format("exact match  {} of {}\n", format_fixed(report.exact_match, 4),
                     counted(report.lines, "line", "lines"));
}

std::optional<std::string> References::next() {
  const auto line = lines_.next();
  if (!line) return std::nullopt;
  return std::string(read_++ == 0 ? without_byte_order_mark(line->text) : line->text);
}

void References::check_end(Index translations, const char* one, const char* several) {
  const bool has_all = read_ == translations;
  check<DataError>(has_all && !lines_.next(), input_.name(), ": has ",
                   has_all ? "more references" : counted(read_, "reference", "references"),
                   has_all ? " than the " : " for ", counted(translations, one, several),
                   "; line i is the reference of line i");
}

}  // namespace heddle
