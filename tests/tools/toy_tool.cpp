// A tool on heddle/cli that can be made to end in every way; cli_test.cpp runs it.
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/cli/streams.hpp"
#include "tools/toy_options.hpp"

namespace {

using namespace heddle;

void copy(const cli::Arguments& arguments, const std::string& target) {
  cli::Output output(target);
  for (const std::string& name : arguments.input_or_usage("FILE")) {
    cli::Input input(name);
    cli::LineReader lines(input);
    while (const auto line = lines.next()) output.stream() << line->text << line->ending;
  }
  output.close();
}

int wait_for_signal() {
  cli::catch_stop_signals();
  std::cout << "ready" << std::endl;
  while (cli::stop_requested() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return cli::exit_status_of(cli::stop_requested());
}

int act(cli::Arguments& arguments) {
  const auto options = arguments.read<toy::Options>();
  switch (options.action) {
    case toy::Action::copy:
      copy(arguments, options.output);
      return 0;
    case toy::Action::listen:
      cli::catch_stop_signals();
      copy(arguments, options.output);
      return 0;
    case toy::Action::data_error:
      throw DataError("text.txt: bad");
    case toy::Action::numeric_error:
      throw NumericError("step 3: loss is not finite");
    case toy::Action::foreign_error:
      throw std::out_of_range("somebody else's error");
    case toy::Action::field_error:
      arguments.warn("`learning_rate` = 1 is high");
      throw UsageError("`layers` = 3 is odd; give `bias` = false, or another `inner_width` = 4");
    case toy::Action::out_of_memory:
      throw std::bad_alloc();
    case toy::Action::flood:
      for (;;) std::cout << "a line that nobody reads to its end\n";
    case toy::Action::wait:
      return wait_for_signal();
    case toy::Action::stay:
      for (;;) wait_for_signal();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return heddle::cli::run(argc, argv, toy::about(), act);
}
