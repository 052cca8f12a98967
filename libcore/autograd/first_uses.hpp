// Says which leaves an operation is about to read, so that their values may still be on their way from another process
// when the pass begins.
#pragma once

#include <functional>
#include <initializer_list>

#include "libcore/autograd/tape.hpp"

namespace heddle {

// While it exists, operations of this thread that call about_to_use() call `see` first, with the root of the gradient
// of each leaf. Not all operations do: Recording::watch() has those that read others. They do not nest.
class UseWatch {
 public:
  using See = std::function<void(const Gradient& leaf)>;
  explicit UseWatch(See see);
  ~UseWatch();
  UseWatch(const UseWatch&) = delete;
  UseWatch& operator=(const UseWatch&) = delete;

 private:
  friend void about_to_use(std::initializer_list<Variable> leaves);
  See see_;
};

// To be called before an operation reads them; constants among them do no harm.
void about_to_use(std::initializer_list<Variable> leaves);

}  // namespace heddle
