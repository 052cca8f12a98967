// Where the time of a training step goes.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/models/config.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle {

struct ProfileOptions {
  bool profile = false;
  PrecisionChoice precision = PrecisionChoice::f32;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("profile",
                  "run some training steps of the model's shape (or of --preset's) on random tokens, and tell "
                  "where their time goes"),
            self.profile);
    visitor(Field("precision", "arithmetic of the profiled steps").needs({"profile"}).takes("NAME"), self.precision);
  }
};

// One operation, forward or backward, in one step.
struct OperationProfile {
  std::string operation;
  double calls = 0, milliseconds = 0, share = 0;
  double gflops = 0, matmul_fraction = 0;
  double gigabytes = 0, memory_fraction = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("operation", "what takes the time"), self.operation);
    visitor(Field("calls", "times a step"), self.calls);
    visitor(Field("milliseconds", "time a step"), self.milliseconds);
    visitor(Field("share", "of the step's time"), self.share);
    visitor(Field("gflops", "GFLOP/s of matrix products"), self.gflops);
    visitor(Field("matmul_fraction", "of the rate of matrix products alone"), self.matmul_fraction);
    visitor(Field("gigabytes", "GB/s, reading inputs and writing results once"), self.gigabytes);
    visitor(Field("memory_fraction", "of the rate of memory"), self.memory_fraction);
  }
};

struct StepProfile {
  std::string precision;
  double tokens_per_second = 0, milliseconds = 0, matmul_gflops = 0, memory_gigabytes = 0;
  std::vector<OperationProfile> operations;  // in falling order of time; what is in none of them is "other"
};

// Trains a model with random weights for a moment, on all threads.
StepProfile profile_steps(models::ModelConfig config, Index batch_size, const ProfileOptions& options,
                          const cli::Arguments& arguments);

std::string profile_table(const StepProfile& profile);
std::string profile_json(const StepProfile& profile);

}  // namespace heddle
