#include "tools/generate/worked_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/proportion.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

std::optional<std::string> answer_in(std::string_view text, std::string_view mark) {
  const std::size_t at = mark.empty() ? 0 : text.rfind(mark);
  if (at == text.npos) return std::nullopt;
  const std::string_view answer = text::stripped(text.substr(at + mark.size()));
  if (answer.empty()) return std::nullopt;
  return std::string(answer);
}

Vote vote(std::span<const std::optional<std::string>> answers) {
  Vote best;
  std::ptrdiff_t most = 0;
  for (const std::optional<std::string>& answer : answers) {
    const auto count = answer ? std::ranges::count(answers, answer) : 0;
    if (count <= most) continue;
    most = count;
    best.answer = *answer;
  }
  if (most > 0) best.share = static_cast<double>(most) / static_cast<double>(answers.size());
  return best;
}

void AnswerEvaluation::add(const Vote& vote) {
  ++prompts_;
  without_ += vote.share > 0 ? 0 : 1;
  shares_ += vote.share;
  const auto line = lines_.next();
  if (!line) return;
  const std::string_view text = right_.empty() ? without_byte_order_mark(line->text) : line->text;
  const std::string reference(text::stripped(text));
  const std::string wanted = answer_in(reference, mark_).value_or(reference);
  // -o writes answers of several lines escaped.
  const bool is_right = vote.answer == wanted || escaped(vote.answer) == wanted;
  right_.push_back(vote.share > 0 && is_right ? 1 : 0);
}

void AnswerEvaluation::write(std::ostream& out, bool json) {
  const auto count = std::ssize(right_);
  check<DataError>(prompts_ > 0, "--evaluate: the file has no prompt to answer");
  check<DataError>(count == prompts_ && !lines_.next(), input_.name(), ": has ",
                   count == prompts_ ? "more lines" : counted(count, "line", "lines"),
                   count == prompts_ ? " than the " : " for ", counted(prompts_, "prompt", "prompts"),
                   "; line i is the answer to prompt i");
  const double right = std::accumulate(right_.begin(), right_.end(), 0.0);
  const metrics::Interval interval = metrics::proportion_interval(static_cast<Index>(right), count);
  const double exact = right / static_cast<double>(count), share = shares_ / static_cast<double>(count);
  if (json) {
    out << json_line({{"prompts", count},
                      {"exact", exact},
                      {"exact_interval", {{"level", 0.95}, {"low", interval.low}, {"high", interval.high}}},
                      {"without_answer", without_},
                      {"mean_share", share}})
        << "\n";
    return;
  }
  out << fmt::format("exact match  {} of {}\n", format_fixed(exact, 4), counted(count, "prompt", "prompts"))
      << fmt::format("             95 % confidence interval from {} to {}\n", format_fixed(interval.low, 4),
                     format_fixed(interval.high, 4));
}

}  // namespace heddle
