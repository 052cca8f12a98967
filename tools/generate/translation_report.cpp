#include "tools/generate/translation_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "libcore/base/strings.hpp"
#include "libcore/metrics/bootstrap.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

void TranslationEvaluation::add(const std::string& translation) {
  ++translations_;
  const auto line = references_.next();
  if (!line) return;
  const std::string reference(lines_.empty() ? without_byte_order_mark(line->text) : line->text);
  lines_.push_back(metrics::count_translation(translation, std::vector{reference}));
}

void TranslationEvaluation::write(std::ostream& out, bool json, std::uint64_t seed) {
  const auto count = static_cast<Index>(lines_.size());
  check<DataError>(count == translations_ && !references_.next(), input_.name(), ": has ",
                   count == translations_ ? "more references" : counted(count, "reference", "references"),
                   count == translations_ ? " than the " : " for ",
                   counted(translations_, "source text", "source texts"), "; line i is the reference of line i");
  const metrics::TranslationReport report = metrics::report(lines_);
  const auto bleu_of = [&](std::span<const Index> sample) {
    return metrics::bleu(metrics::sum_of(lines_, sample).bleu);
  };
  const metrics::Interval interval = metrics::bootstrap_interval(count, bleu_of, {.seed = seed});
  const std::string signature = metrics::bleu_signature(1);
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
  out << fmt::format("BLEU         {:.2f}  ({})\n", report.bleu, signature)
      << fmt::format("             95 % confidence interval from {:.2f} to {:.2f}\n", interval.low, interval.high)
      << fmt::format("precisions   {:.1f} {:.1f} {:.1f} {:.1f}, brevity penalty {:.3f}\n", report.precisions[0],
                     report.precisions[1], report.precisions[2], report.precisions[3], report.brevity_penalty)
      << fmt::format("chrF2        {:.2f}  ({})\n", report.chrf, metrics::chrf_signature(1))
      << fmt::format("exact match  {:.4f} of {}\n", report.exact_match, counted(report.lines, "line", "lines"));
}

}  // namespace heddle
