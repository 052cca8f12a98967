// Training runs that are stopped and resumed.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"
#include "tools/watching.hpp"

namespace heddle::testing {

// Options of a run without an end, whose steps do not depend on how many there are to be.
inline const std::string endless_schedule = " --schedule constant --warmup 3 --log-every 1 --checkpoint-every 1 ";
inline const std::string endless = endless_schedule + "--steps 1000000 ";

// The steps that a model file's run has done.
inline long steps_of(const SmallCorpus& corpus, const std::string& file) {
  return parse_json(corpus.must("inspect --json " + file).out)["history"]["step"].back().get<long>();
}

// Starts a run without an end to NAME.h5, with the log NAME.jsonl; sends the signal when that has so many lines; and
// resumes it up to some steps more than it had done, which it returns. `command` is the program and its options but
// those of endless, -o and --log.
inline long stopped_and_resumed(const SmallCorpus& corpus, const std::string& command, const std::string& name,
                                int lines, const std::string& signal = "KILL") {
  const std::string files = "-o " + name + ".h5 --log " + name + ".jsonl ";
  const std::string checkpoint = name + ".checkpoint.h5";
  const std::string seen = "test -e " + checkpoint + " -a $(lines_of " + name + ".jsonl) -ge " + std::to_string(lines);
  corpus.must("rm -f " + name + ".*");
  const Outcome stopped = corpus.run(signalled(command + endless + files, seen, signal));
  CAPTURE(stopped.err);
  REQUIRE(stopped.status == status_of(signal));
  CHECK(corpus.must("inspect verify " + checkpoint).status == 0);
  CHECK_FALSE(std::filesystem::exists(corpus.path(name + ".h5")));
  const long steps = steps_of(corpus, checkpoint) + 5;
  corpus.must(command + endless_schedule + files + "--resume " + checkpoint + " --steps " + std::to_string(steps));
  CHECK_FALSE(std::filesystem::exists(corpus.path(checkpoint)));
  return steps;
}

}  // namespace heddle::testing
