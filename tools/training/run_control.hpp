// When a training run saves, stops and goes on: what its command line says of it. None of it changes the weights.
#pragma once

#include <string>

#include "heddle/base/visit.hpp"

namespace heddle {

enum class Resume {
  no,
  yes,        // the file must be there
  automatic,  // where there is one
};

// What SIGUSR1 asks for, which batch systems send before they end a job, or users to have a checkpoint.
enum class OnSignal { save, exit };

}  // namespace heddle

template <>
struct heddle::Names<heddle::Resume> {
  static constexpr std::pair<Resume, std::string_view> list[] = {
      {Resume::no, "false"}, {Resume::yes, "true"}, {Resume::automatic, "auto"}};
};
template <>
struct heddle::Names<heddle::OnSignal> {
  static constexpr std::pair<OnSignal, std::string_view> list[] = {{OnSignal::save, "save"}, {OnSignal::exit, "exit"}};
};

namespace heddle {

struct RunControl {
  Resume resume = Resume::no;
  double checkpoint_minutes = 0;
  Index keep = 0;
  std::string max_time;
  OnSignal on_usr1 = OnSignal::save;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("resume",
                  "go on from the file that -o names; auto starts anew where there is none, so that one command "
                  "line does both")
                .bare_value("true")
                .completes_others()
                .essential(),
            self.resume);
    visitor(Field("checkpoint_minutes",
                  "save when so many minutes have passed since the last checkpoint, too; 0 means "
                  "never")
                .range(0, 1e6)
                .takes("X"),
            self.checkpoint_minutes);
    visitor(Field("keep", "keep the last N checkpoints as OUTPUT.step-STEP.h5, too").range(0, 1000000).takes("N"),
            self.keep);
    visitor(Field("max_time",
                  "save and end with status 75 after this time: 90m, 11h30m, 45s, or as Slurm writes it, "
                  "11:30:00, 1-12, 90 (minutes)")
                .not_empty()
                .takes("TIME")
                .essential(),
            self.max_time);
    visitor(Field("on_usr1", "what SIGUSR1 asks for: a checkpoint, or a checkpoint and the end").takes("NAME"),
            self.on_usr1);
  }
};

// Whether there is a run to go on with: its file, for auto, exists.
bool resumes(const RunControl& control, const std::string& output);

// --max-time, 0 without. Throws UsageError for what is no time.
double max_seconds(const RunControl& control);

// From here on SIGUSR1 asks for what the command line says; where it comes before there is something to save, for a
// checkpoint as soon as there is.
void catch_usr1(const RunControl& control);

}  // namespace heddle
