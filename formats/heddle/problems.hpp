// Collects the problems of a file instead of stopping at the first error.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/fields_in_messages.hpp"

namespace heddle::formats {

class Problems {
 public:
  // Runs the check and keeps the message of the Error it throws.
  template <class Check>
  void watch(const Check& run) {
    try {
      run();
    } catch (const Error& error) {
      list_.push_back(plain_field_names(error.what()));
    }
  }
  void add(const std::vector<std::string>& problems) { list_.insert(list_.end(), problems.begin(), problems.end()); }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
};

}  // namespace heddle::formats
