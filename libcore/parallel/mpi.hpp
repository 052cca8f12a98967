// Interface of mpi.cpp, which connect.cpp loads at run time: C functions alone, so that programs and that file need
// nothing of each other.
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
  // Begins to send and receive these messages; for the next three.
  void* (*begin)(const MpiMessage* sent, std::size_t sent_count, const MpiMessage* received,
                 std::size_t received_count);
  bool (*is_done)(void* pending);
  // The rank of a message that has not come after as many seconds (0: for ever), or -1: all have.
  int (*wait)(void* pending, double seconds);
  void (*forget)(void* pending);
  void (*abort)(int status);
  void (*finish)();
};

// The symbol of the function without arguments that returns a pointer to them; another one where they differ.
inline constexpr const char* mpi_functions_symbol = "heddle_mpi_functions_3";

}  // namespace heddle::parallel
