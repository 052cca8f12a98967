// Programs that run in the background, and signals to them: sent when something has been seen of the program, never
// after some time, so that they land on slow machines and fast ones.
#pragma once

#include <map>
#include <string>

namespace heddle::testing {

// Shell functions. `await PROCESS CONDITION` waits until the condition, a shell command, holds; the script ends with 99
// when the process ends before, and with 98 when nothing has come of it for a minute (times HEDDLE_TEST_PATIENCE).
inline const std::string watching = R"sh(
await() {
  local end=$((SECONDS + 60 * ${HEDDLE_TEST_PATIENCE:-1}))
  while ((SECONDS < end)); do
    if eval "$2"; then return; fi
    if ! kill -0 "$1" 2> /dev/null; then
      if eval "$2"; then return; fi
      echo "process $1 ended before: $2" >&2
      exit 99
    fi
    sleep 0.01
  done
  echo "never: $2" >&2
  kill -KILL "$1"
  exit 98
}
# Whether the process has stopped, by SIGSTOP.
has_stopped() { grep -q '^State:.T' "/proc/$1/status"; }
lines_of() { if test -e "$1"; then wc -l < "$1"; else echo 0; fi; }
)sh";

// Before a command in the background, which a shell would start with SIGINT ignored.
inline const std::string interruptible = "env --default-signal=INT ";

// Status of a script whose program ended by the signal, or said so after saving.
inline int status_of(const std::string& signal) {
  static const std::map<std::string, int> numbers{{"HUP", 1}, {"INT", 2}, {"KILL", 9}, {"USR1", 10}, {"TERM", 15}};
  return 128 + numbers.at(signal);
}

// A script that starts the command, sends it the signal when the condition holds, and ends as it does. $run is the
// process.
inline std::string signalled(const std::string& command, const std::string& condition, const std::string& signal) {
  return watching + interruptible + command + " & run=$!\nawait $run '" + condition + "'\nkill -" + signal +
         " $run\nwait $run";
}

}  // namespace heddle::testing
