// Progress of a long job: a bar that redraws itself on a terminal, plain lines at growing intervals in a log file.
// It uses no colour, so NO_COLOR has no effect.
#pragma once

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>

#include "tools/cli/arguments.hpp"

namespace heddle::cli {

enum class ProgressStyle { silent, lines, bar };

// The style for standard error: silent with -q, a bar on a terminal that can redraw, lines otherwise.
ProgressStyle progress_style(bool quiet);

struct ProgressSettings {
  std::string label;  // before each line: "pretrain: "
  std::string unit;   // what is counted: "steps", "MB"
  ProgressStyle style = ProgressStyle::lines;
  std::ostream* out = &std::cerr;
  // Seconds on a clock that only goes forward.
  std::function<double()> clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
};

class Progress {
 public:
  explicit Progress(ProgressSettings settings);
  // On standard error, in the form that the arguments and the terminal ask for.
  Progress(const Arguments& arguments, std::string unit);
  // Leaves the cursor on a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` (0 if unknown), and further text: "loss 2.31". The rate counts from the first call, which may
  // come before any work or after resuming. Most calls only check the clock.
  void update(double done, double total, std::string_view text = {});
  // Whether update() would print now; if not, the caller need not compose the text.
  bool due() const;
  // Prints the last line, whenever the previous one was printed.
  void finish(double done, double total, std::string_view text = {});
  // A line of its own between updates, in every style but silent.
  void note(std::string_view text);

 private:
  std::string line(double done, double total, std::string_view text) const;
  void print(const std::string& line);

  ProgressSettings settings_;
  bool started_ = false;
  double start_time_ = 0, start_done_ = 0;
  double next_time_ = 0, interval_;
  std::size_t drawn_ = 0;  // length of the bar on the screen
};

// "0:42", "12:05", "3:07:00", "2d 03:07"
std::string duration_text(double seconds);

}  // namespace heddle::cli
