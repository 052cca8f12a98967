#include "libcore/training/not_finite.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "libcore/base/strings.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::training {

namespace {

bool is_finite(const Tensor& tensor) {
  if (tensor.empty()) return true;
  const Tensor run = tensor.is_contiguous() ? tensor : tensor.copy();
  return run.with_data([&](const auto* x) {
    return std::all_of(x, x + run.size(), [](auto value) { return std::isfinite(load(value)); });
  });
}

// "at decoder/3/attention/query/weight" where an input is a parameter, else "after" the last one that was; parameters
// that are stored as one go by the first of their names.
class Place {
 public:
  explicit Place(const Parameters& parameters) {
    for (const Parameter& parameter : parameters.all()) names_.emplace(parameter.value().raw(), parameter.name);
  }

  std::string see(std::span<const Variable> inputs) {
    bool here = false;
    for (const Variable& input : inputs) {
      const auto found = input.empty() ? names_.end() : names_.find(input.value().raw());
      if (found == names_.end()) continue;
      last_ = found->second;
      here = true;
    }
    return last_.empty() ? "" : (here ? " at " : " after ") + last_;
  }

 private:
  std::map<const void*, std::string> names_;
  std::string last_;
};

}  // namespace

void check_logits(const Tensor& logits) {
  if (Simulation::active()) return;  // there are no values
  const Index classes = logits.shape()[-1], rows = logits.size() / classes;
  std::vector<char> good(static_cast<std::size_t>(rows));
  parallel_for(rows, [&](Index row) {
    good[static_cast<std::size_t>(row)] = are_finite(logits.data() + row * classes, classes) ? 1 : 0;
  });
  check<NumericError>(std::ranges::count(good, 1) == rows,
                      "the model's logits are not finite: its weights are damaged or diverged");
}

std::string weights_not_finite(const Parameters& parameters) {
  for (const Parameter& parameter : parameters.all()) {
    if (parameter.is_trained() && !is_finite(parameter.value())) return "the weights of " + parameter.name;
  }
  return "";
}

std::string gradient_not_finite(const Parameters& parameters) {
  const std::vector<Parameter>& all = parameters.all();
  for (auto parameter = all.rbegin(); parameter != all.rend(); ++parameter) {
    if (parameter->is_trained() && !is_finite(parameter->gradient())) return "the gradient of " + parameter->name;
  }
  return "";
}

std::string result_not_finite(const Parameters& parameters, const std::function<void()>& compute) {
  const Profile names;  // gives operations their names
  Recording recording;
  Place place(parameters);
  std::string found;
  recording.watch([&](const Tensor& result, std::span<const Variable> inputs) {
    if (!found.empty()) return;
    const std::string where = place.see(inputs);
    const Section* section = Section::current();
    if (!is_finite(result))
      found = concatenate("the result of ", section == nullptr ? "an operation" : section->name(), where);
  });
  compute();
  return found;
}

}  // namespace heddle::training
