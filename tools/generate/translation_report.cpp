#include "tools/generate/translation_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/bootstrap.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

void TranslationEvaluation::add(const std::string& translation) {
  ++translations_;
  const auto line = references_.next();
  if (!line) return;
  const std::string reference(lines_.empty() ? without_byte_order_mark(line->text) : line->text);
  unspaced_ += metrics::is_unspaced(reference) ? 1 : 0;
  lines_.push_back(metrics::count_translation(translation, std::vector{reference}));
}

void TranslationEvaluation::write(std::ostream& out, bool json, const cli::Arguments& arguments) {
  const auto count = static_cast<Index>(lines_.size());
  check<DataError>(count == translations_ && !references_.next(), input_.name(), ": has ",
                   count == translations_ ? "more references" : counted(count, "reference", "references"),
                   count == translations_ ? " than the " : " for ",
                   counted(translations_, "source text", "source texts"), "; line i is the reference of line i");
  const metrics::TranslationReport report = metrics::report(lines_);
  const auto bleu_of = [&](std::span<const Index> sample) {
    return metrics::bleu(metrics::sum_of(lines_, sample).bleu);
  };
  const metrics::Interval interval =
      metrics::bootstrap_interval(count, bleu_of, {.seed = static_cast<std::uint64_t>(arguments.common().seed)});
  const std::string signature = metrics::bleu_signature(1);
  if (2 * unspaced_ > count) {
    arguments.warn(
        "BLEU: the references are in a script without spaces between words, such as Chinese or Japanese, where 13a "
        "takes "
        "a whole line for a word; go by chrF2, or write the translations with -o and run sacrebleu with --tokenize zh, "
        "ja-mecab or char");
  }
  if (json) {
    out << json_line({{"lines", report.lines},
                      {"bleu", report.bleu},
                      {"bleu_interval", {{"level", 0.95}, {"low", interval.low}, {"high", interval.high}}},
                      {"bleu_signature", signature},
                      {"precisions", report.precisions},
                      {"brevity_penalty", report.brevity_penalty},
                      {"chrf", report.chrf},
                      {"chrf_signature", metrics::chrf_signature(1)},
                      {"exact", report.exact_match}})
        << "\n";
    return;
  }
  const auto two = [](double value) { return format_fixed(value, 2); };
  out << fmt::format("BLEU         {}  ({})\n", two(report.bleu), signature)
      << fmt::format("             95 % confidence interval from {} to {}\n", two(interval.low), two(interval.high))
      << "precisions  ";
  for (const double precision : report.precisions) out << ' ' << format_fixed(precision, 1);
  out << fmt::format(", brevity penalty {}\n", format_fixed(report.brevity_penalty, 3))
      << fmt::format("chrF2        {}  ({})\n", two(report.chrf), metrics::chrf_signature(1))
      << fmt::format("exact match  {} of {}\n", format_fixed(report.exact_match, 4),
                     counted(report.lines, "line", "lines"));
}

}  // namespace heddle
