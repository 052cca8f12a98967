#include "libcore/parallel/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using heddle::parallel::MpiFunctions;
using heddle::parallel::MpiMessage;

struct Exchange {
  std::vector<MPI_Request> requests;
  std::vector<int> ranks;  // rank of each request
};

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
void begin_all(const MpiMessage* messages, std::size_t count, Exchange& exchange, const Begin& begin) {
  for (const MpiMessage* message = messages; message != messages + count; ++message) {
    for (std::size_t done = 0; done < message->count; done += most_bytes) {
      const std::size_t piece = std::min(most_bytes, message->count - done);
      exchange.ranks.push_back(message->rank);
      begin(message->bytes + done, static_cast<int>(piece), message->rank, &exchange.requests.emplace_back());
    }
  }
}

void* begin_exchange(const MpiMessage* sent, std::size_t sent_count, const MpiMessage* received,
                     std::size_t received_count) {
  auto* const exchange = new Exchange;
  begin_all(received, received_count, *exchange, [](std::byte* bytes, int count, int rank, MPI_Request* request) {
    MPI_Irecv(bytes, count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, request);
  });
  begin_all(sent, sent_count, *exchange, [](std::byte* bytes, int count, int rank, MPI_Request* request) {
    MPI_Isend(bytes, count, MPI_BYTE, rank, 0, MPI_COMM_WORLD, request);
  });
  return exchange;
}

bool is_done(void* pending) {
  std::vector<MPI_Request>& requests = static_cast<Exchange*>(pending)->requests;
  int done = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

// The rank of the first message that is not done, or -1. As long as one is not, MPI_Testall leaves all as they are.
int first_open(Exchange& exchange) {
  for (std::size_t i = 0; i < exchange.requests.size(); ++i) {
    int done = 1;
    if (exchange.requests[i] != MPI_REQUEST_NULL) MPI_Test(&exchange.requests[i], &done, MPI_STATUS_IGNORE);
    if (done == 0) return exchange.ranks[i];
  }
  return -1;
}

// Others may need the processor, so it is given up between looks, after a while for longer. Time in which this process
// was stopped, with its job perhaps, does not count.
int wait(void* pending, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr int in_haste = 2000;
  constexpr std::chrono::microseconds pause{50};
  constexpr double longest_gap = 1;
  double waited = 0;
  auto last = Clock::now();
  for (int looks = 0; !is_done(pending); ++looks) {
    if (looks < in_haste) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    const auto now = Clock::now();
    waited += std::min(longest_gap, std::chrono::duration<double>(now - last).count());
    last = now;
    if (seconds > 0 && waited >= seconds) return first_open(*static_cast<Exchange*>(pending));
  }
  return -1;
}

// Cancels requests that have not completed.
void forget(void* pending) {
  const auto* const exchange = static_cast<Exchange*>(pending);
  for (MPI_Request request : exchange->requests) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
  delete exchange;
}

void abort_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

void finish() {
  MPI_Finalize();
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const MpiFunctions* heddle_mpi_functions_3() {
  static constexpr MpiFunctions functions{start, begin_exchange, is_done, wait, forget, abort_all, finish};
  return &functions;
}
