// Memory of a computation.
#pragma once

#include "libcore/tensor/pool.hpp"

namespace heddle::testing {

// Bytes that the pool had to ask the system for while body() ran: no less than the peak of what was in use at once,
// beyond what lived before.
template <class Body>
std::size_t footprint(const Body& body) {
  pool().trim();
  const std::size_t before = pool().statistics().bytes_from_system;
  body();
  return pool().statistics().bytes_from_system - before;
}

}  // namespace heddle::testing
