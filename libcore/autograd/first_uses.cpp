#include "libcore/autograd/first_uses.hpp"

#include <utility>

#include "libcore/base/error.hpp"

namespace heddle {

namespace {
thread_local const UseWatch* use_watch = nullptr;
}

UseWatch::UseWatch(See see) : see_(std::move(see)) {
  check<Error>(use_watch == nullptr, "watches of uses do not nest");
  use_watch = this;
}

UseWatch::~UseWatch() {
  use_watch = nullptr;
}

void about_to_use(std::initializer_list<Variable> leaves) {
  if (use_watch == nullptr) return;
  for (const Variable& leaf : leaves) {
    if (leaf.gradient()) use_watch->see_(*leaf.gradient()->root());
  }
}

}  // namespace heddle
