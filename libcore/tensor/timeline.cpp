#include "libcore/tensor/timeline.hpp"

#include <utility>

#include "libcore/base/error.hpp"

namespace heddle {

namespace {
thread_local Timeline* active_timeline = nullptr;
}

Timeline::Timeline() {
  check<Error>(active_timeline == nullptr, "timelines do not nest");
  active_timeline = this;
}

Timeline::~Timeline() {
  active_timeline = nullptr;
}

Timeline* Timeline::current() {
  return active_timeline;
}

void Timeline::note(Event event, Clock::time_point begin) {
  const auto seconds = [&](Clock::time_point time) { return std::chrono::duration<double>(time - start_).count(); };
  event.begin = seconds(begin);
  event.end = seconds(Clock::now());
  events_.push_back(std::move(event));
}

}  // namespace heddle
