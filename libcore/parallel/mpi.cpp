#include "libcore/parallel/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace {

using heddle::parallel::MpiFunctions;
using heddle::parallel::MpiMessage;

using Requests = std::vector<MPI_Request>;

// MPI counts in int.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

void start(int* rank, int* size) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
}

// Calls begin(bytes, count, rank, request) for each piece of the messages.
template <class Begin>
void begin_all(const MpiMessage* messages, std::size_t count, Requests& requests, const Begin& begin) {
  for (const MpiMessage* message = messages; message != messages + count; ++message) {
    for (std::size_t done = 0; done < message->count; done += most_bytes) {
      requests.emplace_back();
      const std::size_t piece = std::min(most_bytes, message->count - done);
      begin(message->bytes + done, static_cast<int>(piece), message->rank, &requests.back());
    }
  }
}

void* begin_exchange(const MpiMessage* sent, std::size_t sent_count, const MpiMessage* received,
                     std::size_t received_count) {
  auto* const requests = new Requests;
  begin_all(received, received_count, *requests, [](std::byte* bytes, int count, int rank, MPI_Request* request) {
    MPI_Irecv(bytes, count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, request);
  });
  begin_all(sent, sent_count, *requests, [](std::byte* bytes, int count, int rank, MPI_Request* request) {
    MPI_Isend(bytes, count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, request);
  });
  return requests;
}

bool is_done(void* pending) {
  Requests& requests = *static_cast<Requests*>(pending);
  int done = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

void wait(void* pending) {
  Requests& requests = *static_cast<Requests*>(pending);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

// What is not done by now never will be.
void forget(void* pending) {
  const auto* const requests = static_cast<Requests*>(pending);
  for (MPI_Request request : *requests) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
  delete requests;
}

void abort_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

void finish() {
  MPI_Finalize();
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const MpiFunctions* heddle_mpi_functions_2() {
  static constexpr MpiFunctions functions{start, begin_exchange, is_done, wait, forget, abort_all, finish};
  return &functions;
}
