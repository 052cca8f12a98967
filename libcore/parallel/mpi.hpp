// What connect.cpp calls of mpi.cpp, which is loaded at run time: C functions alone, so that programs and that file
// need nothing of each other.
#pragma once

#include <cstddef>

namespace heddle::parallel {

struct MpiMessage {
  int rank;
  std::byte* bytes;
  std::size_t count;
};

struct MpiFunctions {
  void (*start)(int* rank, int* size);
  // Sends and receives all messages; returns when all are done.
  void (*exchange)(const MpiMessage* sent, std::size_t sent_count, const MpiMessage* received,
                   std::size_t received_count);
  void (*abort)(int status);
  void (*finish)();
};

// The symbol of the function without arguments that returns a pointer to them.
inline constexpr const char* mpi_functions_symbol = "heddle_mpi_functions";

}  // namespace heddle::parallel
