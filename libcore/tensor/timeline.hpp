// When each section of a program ran, and what was on its way to other processes meanwhile: for pictures of a step.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace heddle {

// Records one thread, as Profile does; while one exists, its sections are noted. They do not nest.
class Timeline {
 public:
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::string part, name;
    bool backward = false;
    bool is_transit = false;    // not a section: messages on their way
    double begin = 0, end = 0;  // seconds since the timeline was made
  };

  Timeline();
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Sections within others come before these.
  const std::vector<Event>& events() const { return events_; }
  void note(Event event, Clock::time_point begin);
  // Null without one.
  static Timeline* current();

 private:
  Clock::time_point start_ = Clock::now();
  std::vector<Event> events_;
};

// Messages that are on their way, from the construction to arrived().
class Transit {
 public:
  // The name must outlive it.
  explicit Transit(const char* name) : name_(name) {}
  void arrived() const {
    if (Timeline* const timeline = Timeline::current()) timeline->note({"", name_, false, true, 0, 0}, begin_);
  }

 private:
  const char* name_;
  Timeline::Clock::time_point begin_ = Timeline::Clock::now();
};

}  // namespace heddle
