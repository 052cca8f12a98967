#include "libcore/parallel/thread_group.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "libcore/base/error.hpp"

namespace heddle::parallel {

namespace {

// Messages that were sent and not yet received.
class Post {
 public:
  void send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    waiting_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }

  void receive(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<std::byte>>& messages = waiting_[{from, to}];
    changed_.wait(lock, [&] { return failed_ || !messages.empty(); });
    check<Error>(!messages.empty(), "another rank failed");
    check<Error>(messages.front().size() == bytes.size(), "rank ", to, " expects ", bytes.size(), " bytes, and rank ",
                 from, " sent ", messages.front().size());
    std::ranges::copy(messages.front(), bytes.begin());
    messages.pop_front();
  }

  // The first one is what failed, and others follow.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failure_ = std::move(failure);
    failed_ = true;
    changed_.notify_all();
  }

  std::exception_ptr failure() const { return failure_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> waiting_;
  bool failed_ = false;
  std::exception_ptr failure_;
};

class ThreadRank final : public Group {
 public:
  ThreadRank(Post& post, int rank, int size) : Group(rank, size), post_(post) {}

  void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received) const override {
    for (const Outgoing& message : sent) post_.send(rank(), message.to, message.bytes);
    for (const Incoming& message : received) post_.receive(message.from, rank(), message.bytes);
  }

  void abort(int status) const override {
    post_.fail(std::make_exception_ptr(Error(concatenate("rank ", rank(), " aborted"), status)));
  }

 private:
  Post& post_;
};

}  // namespace

void on_ranks(int ranks, const std::function<void(const Group& group)>& body) {
  Post post;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(ThreadRank(post, rank, ranks));
      } catch (...) {
        post.fail(std::current_exception());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (post.failure()) std::rethrow_exception(post.failure());
}

}  // namespace heddle::parallel
