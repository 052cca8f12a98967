// Profiling: operations name themselves with a Section, modules name the Part of the model that they are, and while a
// Profile exists, time, floating-point operations and memory traffic are summed by part and name. Without one, a
// Section costs a comparison.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

// A profile of one thread, the one that runs the operations. Profiles do not nest.
class Profile {
 public:
  struct Entry {
    std::string part;  // "feed-forward"; empty outside of any part
    std::string name;  // "linear"
    bool backward = false;
    Index calls = 0;
    double seconds = 0;  // exclusive of nested sections
    double flops = 0;    // matrix products only
    double bytes = 0;    // minimum traffic: inputs read once, results written once
  };

  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // In falling order of time.
  std::vector<Entry> entries() const;

 private:
  friend class Section;
  std::map<std::tuple<std::string_view, std::string_view, bool>, Entry> entries_;  // keyed by part, name and pass
};

// The part of a model to which the sections of this thread belong while it exists, the innermost one; their backward
// passes belong to it, too.
class Part {
 public:
  // The name must outlive everything that is recorded inside. Null: none.
  explicit Part(const char* name);
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Null outside of any.
  static const char* current();

 private:
  const char* before_;
};

class Section {
 public:
  enum class Pass { forward, backward };
  // The name must outlive everything that is recorded inside.
  explicit Section(const char* name, Pass pass = Pass::forward);
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  void add_bytes(double bytes) { bytes_ += bytes; }

  // The innermost one of this thread; null outside of any and without a Profile.
  static Section* current();
  const char* name() const { return name_; }
  const char* part() const { return part_; }

 private:
  const char* name_;
  const char* part_;
  Pass pass_;
  Section* outer_ = nullptr;
  std::chrono::steady_clock::time_point start_{};
  double flops_before_ = 0, bytes_ = 0;
  double inner_seconds_ = 0, inner_flops_ = 0;
};

}  // namespace heddle
