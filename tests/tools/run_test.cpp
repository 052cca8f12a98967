// Endings of a tool: run() around toy_tool, from outside, and its messages.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/skips.hpp"
#include "tools/cli/progress.hpp"
#include "tools/command.hpp"
#include "tools/watching.hpp"

using heddle::testing::interruptible;
using heddle::testing::Outcome;
using heddle::testing::read_file;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::watching;
using heddle::testing::write_file;

namespace {

const std::string toy_tool = TOY_TOOL;

Outcome run_toy(const std::string& words) {
  return run_command(toy_tool + " " + words);
}

}  // namespace

TEST_CASE("run: errors are one line and an exit status") {
  const Outcome usage = run_toy("--layer 3");
  CHECK(usage.status == 2);
  CHECK(usage.err == "toy: unknown option --layer; did you mean --layers? (toy --help=all lists them)\n");
  CHECK(usage.out.empty());

  const Outcome unprintable = run_toy(R"x(--layers "$(printf 'a\nb\033[1m')")x");
  CHECK(unprintable.err.find(R"x('a\x0ab\x1b[1m')x") != std::string::npos);
  CHECK(unprintable.err.find('\n') == unprintable.err.size() - 1);

  const Outcome data = run_toy("--action data-error");
  CHECK(data.status == 1);
  CHECK(data.err == "toy: text.txt: bad\n");

  const Outcome numeric = run_toy("--action numeric-error");
  CHECK(numeric.status == 3);
  CHECK(numeric.err == "toy: step 3: loss is not finite\n");

  const Outcome field = run_toy("--action field-error");
  CHECK(field.status == 2);
  CHECK(
      field.err ==
      "toy: warning: --learning-rate 1 is high\ntoy: --layers 3 is odd; give --no-bias, or another inner-width = 4\n");

  CHECK(run_toy("--action foreign-error").status == 1);
  const Outcome memory = run_toy("--action out-of-memory");
  CHECK(memory.status == 1);
  CHECK(memory.err == "toy: out of memory; use a smaller batch, context or model\n");
}

TEST_CASE("run: help and version go to standard output, even beside mistakes") {
  for (const char* words : {"--help", "-h", "--nonsense --help"}) {
    const Outcome help = run_toy(words);
    CHECK(help.status == 0);
    CHECK(help.err.empty());
    CHECK(help.out.starts_with("Usage: toy "));
    CHECK(help.out.find("--help-man") == std::string::npos);
    CHECK(help.out.find("\nCommon options:\n") != std::string::npos);
  }
  const Outcome version = run_toy("--version");
  CHECK(version.status == 0);
  for (const char* part :
       {"toy (heddle) 0.", "\nBLAS: ", "\nHDF5: 1.", "\nBoost: 1.", "\ncompiler: ", "\ninstruction set: "}) {
    CHECK(version.out.find(part) != std::string::npos);
  }
}

TEST_CASE("run: the affinity mask limits the threads, and -v says so") {
  if (run_command("command -v taskset && test $(nproc) -gt 1").status != 0) {
    heddle::testing::skipped("no taskset, or a single processor");
    return;
  }
  const std::string alone =
      "unset OMP_NUM_THREADS SLURM_CPUS_PER_TASK; taskset -c $(taskset -cp $$ | "
      "grep -oE '[0-9]+' | tail -n 1) " +
      toy_tool + " -v";
  CHECK(run_command(alone).err.find("threads: 1 (the affinity mask allows 1 of ") != std::string::npos);
}

TEST_CASE("run: --print-config reads back identically, and needs no operands") {
  const TemporaryFolder folder;
  const std::string config = folder / "run.ini";
  const Outcome first = run_toy("--print-config --layers 9 --stop '#,x' --seed 7 --threads 1 > " + config);
  CHECK(first.status == 0);
  const Outcome second = run_command("HEDDLE_CONFIG=" + config + " " + toy_tool + " --print-config");
  CHECK(second.out == read_file(config));
  CHECK(second.out.find("layers = 9\n") != std::string::npos);
  CHECK(second.out.find("stop = \"#,x\"\n") != std::string::npos);
}

TEST_CASE("run: bytes pass through unchanged, to standard output or a file") {
  const TemporaryFolder folder;
  const std::string bytes = std::string("a\r\nb\0c\n\n\xff\xfe\r d", 14);
  write_file(folder / "in", bytes);
  CHECK(run_toy("< " + (folder / "in")).out == bytes);
  CHECK(run_toy("- < " + (folder / "in")).out == bytes);
  CHECK(run_toy((folder / "in") + " " + (folder / "in") + " -o " + (folder / "out")).status == 0);
  CHECK(read_file(folder / "out") == bytes + bytes);
}

TEST_CASE("run: a failed output is an error, and an old file stands") {
  const TemporaryFolder folder;
  write_file(folder / "in", "text\n");
  const Outcome full = run_toy((folder / "in") + " > /dev/full");
  CHECK(full.status == 1);
  CHECK(full.err == "toy: standard output: cannot write: No space left on device\n");
  CHECK(run_toy("--action flood > /dev/full").status == 1);
  CHECK(run_toy((folder / "in") + " -o /dev/full").status == 1);
  CHECK(run_toy((folder / "in") + " >&-").status == 1);

  write_file(folder / "out", "old\n");
  const Outcome missing = run_toy((folder / "in") + " " + (folder / "absent") + " -o " + (folder / "out"));
  CHECK(missing.status == 1);
  CHECK(missing.err == "toy: " + (folder / "absent") + ": cannot open: No such file or directory\n");
  CHECK(read_file(folder / "out") == "old\n");
  CHECK(run_command("ls -A " + (folder / ".") + " | wc -l").out == "2\n");
}

TEST_CASE("run: a closed pipe is quiet") {
  const Outcome outcome = run_command(toy_tool + " --action flood | head -n 1; echo ${PIPESTATUS[0]}");
  CHECK(outcome.out.ends_with("\n141\n"));
  CHECK(outcome.err.empty());
  CHECK(run_command("trap '' PIPE; " + toy_tool + " --action flood | head -n 1").err.empty());
}

TEST_CASE("run: a lost standard error stops nothing") {
  CHECK(run_command("{ " + toy_tool + " -v <<< text 3>&1 >&3; } 2>/dev/full").out == "text\n");
}

TEST_CASE("signals: the first asks to stop, and the status says which it was") {
  const auto stopped_by = [](const std::string& signal) {
    return run_command("coproc " + toy_tool + " --action wait; read -ru ${COPROC[0]} ready; kill -" + signal +
                       " $COPROC_PID; wait $COPROC_PID")
        .status;
  };
  CHECK(stopped_by("TERM") == 143);
  CHECK(stopped_by("KILL") == 137);
}

TEST_CASE("signals: the second ends a program that does not listen") {
  // It says again that it is ready once it has seen the first. Signals within a quarter of a second are one request.
  const Outcome outcome = run_command("coproc " + toy_tool +
                                      " --action stay; read -ru ${COPROC[0]} ready; kill $COPROC_PID; "
                                      "read -ru ${COPROC[0]} ready; sleep 0.3; "
                                      "kill $COPROC_PID || echo gone; wait $COPROC_PID");
  CHECK(outcome.status == 143);
  CHECK(outcome.out.empty());
}

TEST_CASE("signals: one that comes while input is awaited leaves no file behind") {
  const TemporaryFolder folder;
  const std::string list = "ls -A " + (folder / ".");
  const auto stopped_by = [&](const std::string& signal, const std::string& action) {
    return run_command(watching + "coproc " + interruptible + toy_tool + " --action " + action + " -o " +
                       (folder / "out") + "; run=$COPROC_PID\n" + "await $run '" + list + " | grep -q tmp'; kill -" +
                       signal + " $run; wait $run");
  };
  for (const auto& [signal, status] :
       std::vector<std::pair<std::string, int>>{{"TERM", 143}, {"INT", 130}, {"HUP", 129}}) {
    CAPTURE(signal);
    CHECK(stopped_by(signal, "copy").status == status);
    CHECK(run_command(list).out.empty());
  }
  const Outcome listening = stopped_by("TERM", "listen");
  CHECK(listening.status == 143);
  CHECK(listening.err == "toy: stopped on request (SIGTERM)\n");
  CHECK(run_command(list).out.empty());
}

TEST_CASE("run: what is asked for in silence stays silent") {
  const Outcome outcome = run_command(toy_tool + " -v <<< text");
  CHECK(outcome.out == "text\n");
  CHECK(outcome.err.find("kernel ") != std::string::npos);
  CHECK(run_command(toy_tool + " <<< text").err.empty());
}

TEST_CASE("run: -v tells what became of the user's OPENBLAS_CORETYPE") {
  CHECK(heddle::testing::contains(run_command("OPENBLAS_CORETYPE=Loom " + toy_tool + " -v <<< text").err,
                                  "'Loom', set by OPENBLAS_CORETYPE"));
  const std::string err = run_command("OPENBLAS_CORETYPE=haswell " + toy_tool + " -v <<< text").err;
  CHECK((heddle::testing::contains(err, "kernel Haswell by OPENBLAS_CORETYPE") ||
         heddle::testing::contains(err, "not 'haswell'")));
  CHECK_FALSE(heddle::testing::contains(run_command("unset OPENBLAS_CORETYPE; " + toy_tool + " -v <<< text").err,
                                        "OPENBLAS_CORETYPE"));
}

TEST_CASE("progress: lines at growing intervals, with rate and time left") {
  double now = 100;
  std::ostringstream out;
  heddle::cli::Progress progress(
      {.label = "toy: ", .unit = "steps", .style = heddle::cli::ProgressStyle::lines, .out = &out, .clock = [&now] {
         return now;
       }});
  for (int step = 0; step <= 100; ++step, now += 0.5) progress.update(step, 200, "loss 1.5");
  CHECK(out.str() ==
        "toy: 2% 4/200 steps, 2 steps/s, 1:38 left, loss 1.5\n"
        "toy: 6% 12/200 steps, 2 steps/s, 1:34 left, loss 1.5\n"
        "toy: 14% 28/200 steps, 2 steps/s, 1:26 left, loss 1.5\n"
        "toy: 30% 60/200 steps, 2 steps/s, 1:10 left, loss 1.5\n");
  out.str("");
  progress.finish(200, 200);
  CHECK(out.str().starts_with("toy: 100% 200/200 steps, "));
}

TEST_CASE("progress: the rate is that since the first call, with three digits, and all is done at the end only") {
  double now = 50;
  std::ostringstream out;
  const auto settings = [&] {
    return heddle::cli::ProgressSettings{
        .label = "", .unit = "steps", .style = heddle::cli::ProgressStyle::lines, .out = &out, .clock = [&now] {
          return now;
        }};
  };
  heddle::cli::Progress resumed(settings());
  resumed.update(1000, 2000);
  now += 10;
  resumed.update(1020, 2000);
  now += 10;
  resumed.update(1998, 2000);
  CHECK(out.str() == "51% 1020/2000 steps, 2 steps/s, 8:10 left\n99% 1998/2000 steps, 49.9 steps/s, 0:00 left\n");
  out.str("");
  heddle::cli::Progress endless(settings());
  endless.update(0, 0);
  for (const auto& [seconds, steps] : {std::pair{4, 1}, {6, 125}, {20, 4500}}) {
    now += seconds;
    endless.update(steps, 0);
  }
  CHECK(out.str() == "1 steps, 0.25 steps/s\n125 steps, 12.5 steps/s\n4500 steps, 150 steps/s\n");
}

TEST_CASE("progress: lines are a minute apart at most") {
  double now = 0;
  std::ostringstream out;
  heddle::cli::Progress progress({.label = "", .unit = "s", .out = &out, .clock = [&now] { return now; }});
  std::vector<double> times;
  for (; now < 400; ++now) {
    const auto before = out.str().size();
    progress.update(now, 400);
    if (out.str().size() > before) times.push_back(now);
  }
  CHECK(times == std::vector<double>{2, 6, 14, 30, 62, 122, 182, 242, 302, 362});
}

TEST_CASE("progress: of a longer line nothing stays behind a shorter one") {
  double now = 0;
  std::ostringstream out;
  heddle::cli::Progress bar(
      {.label = "", .unit = "MB", .style = heddle::cli::ProgressStyle::bar, .out = &out, .clock = [&now] {
         return now;
       }});
  bar.update(0, 10);
  now += 1;
  bar.update(5, 10, "some text");
  const std::size_t drawn = out.str().size() - 1;  // without the return before it
  out.str("");
  now += 1;
  bar.update(6, 10);
  std::string line = "\r[============>       ] 60% 6/10 MB, 3 MB/s, 0:01 left";
  line.resize(drawn + 1, ' ');
  CHECK(out.str() == line);
}

TEST_CASE("progress: a bar redraws one line, and -q is silent") {
  double now = 0;
  std::ostringstream out;
  const auto settings = [&](heddle::cli::ProgressStyle style) {
    return heddle::cli::ProgressSettings{
        .label = "", .unit = "MB", .style = style, .out = &out, .clock = [&now] { return now; }};
  };
  {
    heddle::cli::Progress bar(settings(heddle::cli::ProgressStyle::bar));
    bar.update(0, 10);
    now += 1;
    bar.update(5, 10, "text");
    now += 0.01;
    bar.update(6, 10);
    bar.note("note");
  }
  CHECK(out.str().starts_with("\r[==========>         ] 50% 5/10 MB, 5 MB/s, 0:01 left, text\r "));
  CHECK(out.str().ends_with("\rnote\n"));
  CHECK(out.str().find("6/10") == std::string::npos);
  out.str("");
  heddle::cli::Progress silent(settings(heddle::cli::ProgressStyle::silent));
  silent.update(1, 2);
  now += 100;
  silent.update(2, 2);
  silent.note("note");
  silent.finish(2, 2);
  CHECK(out.str().empty());
}

TEST_CASE("progress: only a terminal that is not dumb has its line redrawn") {
  using heddle::cli::ProgressStyle;
  int master = -1, terminal = -1;
  REQUIRE(openpty(&master, &terminal, nullptr, nullptr, nullptr) == 0);
  const int standard_error = dup(STDERR_FILENO);
  const auto style_on = [&](int stream, const char* term) {
    setenv("TERM", term, 1);
    dup2(stream, STDERR_FILENO);
    const ProgressStyle style = heddle::cli::progress_style(false);
    dup2(standard_error, STDERR_FILENO);
    return style;
  };
  const char* const before = std::getenv("TERM");
  const std::string term = before == nullptr ? "" : before;
  CHECK(style_on(terminal, "xterm") == ProgressStyle::bar);
  CHECK(style_on(terminal, "dumb") == ProgressStyle::lines);
  const int file = open("/dev/null", O_WRONLY);
  CHECK(style_on(file, "xterm") == ProgressStyle::lines);
  CHECK(heddle::cli::progress_style(true) == ProgressStyle::silent);
  setenv("TERM", term.c_str(), 1);
  for (const int number : {master, terminal, standard_error, file}) close(number);
}

TEST_CASE("progress: durations") {
  CHECK(heddle::cli::duration_text(0.2) == "0:00");
  CHECK(heddle::cli::duration_text(725) == "12:05");
  CHECK(heddle::cli::duration_text(725.6) == "12:06");
  CHECK(heddle::cli::duration_text(59.6) == "1:00");
  CHECK(heddle::cli::duration_text(11220) == "3:07:00");
  CHECK(heddle::cli::duration_text(2 * 86400 + 11220) == "2d 03:07");
}

TEST_CASE("deadlines: a command that does not end is ended with what it has started, and one that never comes too") {
  const TemporaryFolder folder;
  const std::string child = folder / "child";
  CHECK_THROWS_WITH_AS(run_command("sleep 1000 & echo $! > " + child + "; wait", 1),
                       doctest::Contains("has not ended in 1 seconds: sleep 1000 & echo"), std::runtime_error);
  const std::string is_over =
      "! kill -0 $(cat " + child + ") 2> /dev/null || grep -q '^State:.Z' /proc/$(cat " + child + ")/status";
  CHECK(run_command(is_over).status == 0);
  const Outcome never = run_command("HEDDLE_TEST_PATIENCE=0; " + watching + "sleep 1000 & await $! false");
  CHECK(never.status == 98);
  CHECK(never.err == "never: false\n");
}
