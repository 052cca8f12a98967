// Options that pretrain and finetune share one by one; groups of them are in run_control.hpp and setup.hpp.
#pragma once

#include "libcore/base/visit.hpp"

namespace heddle {

inline Field valid_field() {
  return Field("valid",
               "file of the same kind to evaluate on, which decides which model is best; or a percentage of --train to "
               "hold out, such as 10%")
      .not_empty()
      .takes("FILE|N%")
      .essential();
}

inline Field log_field() {
  return Field("log", "log file: one JSON object per line for each logged step and each evaluation")
      .not_empty()
      .takes("FILE");
}

inline Field dry_run_field() {
  return Field("dry_run", "print size, memory, time and cost; train nothing").essential();
}

inline Field dry_run_json_field() {
  return Field("json", "print the result of the dry run as JSON").needs({"dry_run"});
}

}  // namespace heddle
