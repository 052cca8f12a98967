#include "tools/cli/progress.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "libcore/base/printable.hpp"

namespace heddle::cli {

namespace {

constexpr double redraw_seconds = 0.1;
constexpr double first_line_seconds = 2, longest_wait_seconds = 60;
constexpr std::size_t bar_width = 20;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Counts whole, rates with three digits.
std::string number_text(double number) {
  return fmt::format("{:.{}f}", number, number >= 100 || number == std::floor(number) ? 0 : number >= 10 ? 1 : 2);
}

std::string bar_text(double share) {
  const auto filled = static_cast<std::size_t>(share * bar_width);
  std::string bar(filled, '=');
  if (filled < bar_width) bar += '>';
  bar.resize(bar_width, ' ');
  return "[" + bar + "] ";
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::min(seconds, 1e9) + 0.5);
  const long long days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{}d {:02}:{:02}", days, hours, minutes);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::silent;
  const char* terminal = std::getenv("TERM");
  const bool redraws = isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
  return redraws ? ProgressStyle::bar : ProgressStyle::lines;
}

Progress::Progress(ProgressSettings settings)
    : settings_(std::move(settings)),
      interval_(settings_.style == ProgressStyle::bar ? redraw_seconds : first_line_seconds) {}

Progress::Progress(const Arguments& arguments, std::string unit)
    : Progress({.label = arguments.tool() + ": ",
                .unit = std::move(unit),
                .style = progress_style(arguments.common().quiet)}) {}

Progress::~Progress() {
  if (drawn_ > 0) *settings_.out << std::endl;
}

bool Progress::due() const {
  return settings_.style != ProgressStyle::silent && settings_.clock() >= next_time_;
}

void Progress::update(double done, double total, std::string_view text) {
  if (!due()) return;
  if (!started_) {
    started_ = true;
    start_time_ = settings_.clock();
    start_done_ = done;
  } else {
    print(line(done, total, text));
    if (settings_.style == ProgressStyle::lines) interval_ = std::min(2 * interval_, longest_wait_seconds);
  }
  next_time_ = settings_.clock() + interval_;
}

void Progress::finish(double done, double total, std::string_view text) {
  if (settings_.style == ProgressStyle::silent) return;
  if (!started_) update(done, total, text);
  print(line(done, total, text));
  if (drawn_ > 0) *settings_.out << std::endl;
  drawn_ = 0;
  next_time_ = INFINITY;
}

void Progress::note(std::string_view text) {
  if (settings_.style == ProgressStyle::silent) return;
  const std::string blank = drawn_ > 0 ? "\r" + std::string(drawn_, ' ') + "\r" : "";
  drawn_ = 0;
  *settings_.out << blank + settings_.label + printable(text) + "\n" << std::flush;
  if (settings_.style == ProgressStyle::bar && started_) next_time_ = 0;
}

std::string Progress::line(double done, double total, std::string_view text) const {
  const double seconds = settings_.clock() - start_time_;
  const double rate = seconds > 0 ? (done - start_done_) / seconds : 0;
  std::string line = settings_.label;
  if (total > 0) {
    const double share = std::clamp(done / total, 0.0, 1.0);
    if (settings_.style == ProgressStyle::bar) line += bar_text(share);
    line += number_text(std::floor(100 * share)) + "% " + number_text(done) + "/" + number_text(total);
  } else {
    line += number_text(done);
  }
  line += " " + settings_.unit;
  if (rate > 0) line += ", " + number_text(rate) + " " + settings_.unit + "/s";
  if (rate > 0 && total > done) line += ", " + duration_text((total - done) / rate) + " left";
  if (!text.empty()) line += ", " + printable(text);
  return line;
}

void Progress::print(const std::string& line) {
  if (settings_.style == ProgressStyle::lines) {
    *settings_.out << line + "\n" << std::flush;
    return;
  }
  // A line that wraps could not be redrawn.
  std::string visible = line.substr(0, terminal_width() - 1);
  const std::size_t length = visible.size();
  if (length < drawn_) visible.resize(drawn_, ' ');
  *settings_.out << "\r" + visible << std::flush;
  drawn_ = length;
}

}  // namespace heddle::cli
