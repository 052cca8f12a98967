#include "libcore/tensor/profile.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/timeline.hpp"

namespace heddle {

namespace {
thread_local Profile* active_profile = nullptr;
thread_local Section* innermost = nullptr;
thread_local const char* current_part = nullptr;
}  // namespace

Profile::Profile() {
  check<Error>(active_profile == nullptr, "profiles do not nest");
  active_profile = this;
}

Profile::~Profile() {
  active_profile = nullptr;
}

std::vector<Profile::Entry> Profile::entries() const {
  std::vector<Entry> sorted;
  for (const auto& [name, entry] : entries_) sorted.push_back(entry);
  std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.seconds > b.seconds; });
  return sorted;
}

Part::Part(const char* name) : before_(std::exchange(current_part, name)) {}

Part::~Part() {
  current_part = before_;
}

const char* Part::current() {
  return current_part;
}

Section::Section(const char* name, Pass pass) : name_(name), part_(current_part), pass_(pass) {
  if (active_profile == nullptr && Timeline::current() == nullptr) return;
  outer_ = std::exchange(innermost, this);
  flops_before_ = matmul_flops();
  start_ = std::chrono::steady_clock::now();
}

Section::~Section() {
  if (innermost != this) return;
  innermost = outer_;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double flops = matmul_flops() - flops_before_;
  if (outer_ != nullptr) {
    outer_->inner_seconds_ += seconds;
    outer_->inner_flops_ += flops;
  }
  const std::string_view part = part_ == nullptr ? "" : part_;
  const bool backward = pass_ == Pass::backward;
  if (Timeline* const timeline = Timeline::current()) {
    timeline->note({std::string(part), name_, backward, false, 0, 0}, start_);
  }
  if (active_profile == nullptr) return;
  Profile::Entry& entry = active_profile->entries_[{part, name_, backward}];
  entry.part = part;
  entry.name = name_;
  entry.backward = backward;
  entry.calls += 1;
  entry.seconds += seconds - inner_seconds_;
  entry.flops += flops - inner_flops_;
  entry.bytes += bytes_;
}

Section* Section::current() {
  return innermost;
}

}  // namespace heddle
