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

// Messages between the ranks: those that were sent, and those that are expected, in their order.
class Post {
 public:
  struct Expected {
    int from, to;
    std::span<std::byte> bytes;
    bool has_come = false;
  };

  void send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[{from, to}];
    line.sent.emplace_back(bytes.begin(), bytes.end());
    deliver(line);
  }

  void expect(Expected& message) {
    const std::lock_guard lock(mutex_);
    Line& line = lines_[{message.from, message.to}];
    line.expected.push_back(&message);
    deliver(line);
  }
  void forget(Expected& message) {
    const std::lock_guard lock(mutex_);
    std::erase(lines_[{message.from, message.to}].expected, &message);
  }

  bool has_come(const Expected& message) {
    const std::lock_guard lock(mutex_);
    check_alive(message);
    return message.has_come;
  }
  void wait(const Expected& message) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || message.has_come; });
    check_alive(message);
  }

  // The first one is what failed, and others follow.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    fail_locked(std::move(failure));
  }

  std::exception_ptr failure() const { return failure_; }

 private:
  // From one rank to another; one of the two is empty.
  struct Line {
    std::deque<std::vector<std::byte>> sent;
    std::deque<Expected*> expected;
  };

  void deliver(Line& line) {
    if (line.sent.empty() || line.expected.empty()) return;
    const std::vector<std::byte> bytes = std::move(line.sent.front());
    Expected& message = *line.expected.front();
    line.sent.pop_front();
    line.expected.pop_front();
    if (bytes.size() == message.bytes.size()) {
      std::ranges::copy(bytes, message.bytes.begin());
      message.has_come = true;
    } else {
      fail_locked(
          std::make_exception_ptr(Error(concatenate("rank ", message.to, " expects ", message.bytes.size(),
                                                    " bytes, and rank ", message.from, " sent ", bytes.size()))));
    }
    changed_.notify_all();
  }

  void fail_locked(std::exception_ptr failure) {
    if (!failed_) failure_ = std::move(failure);
    failed_ = true;
    changed_.notify_all();
  }

  void check_alive(const Expected& message) const { check<Error>(message.has_come || !failed_, "another rank failed"); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, Line> lines_;
  bool failed_ = false;
  std::exception_ptr failure_;
};

class ThreadPending final : public Pending {
 public:
  ThreadPending(Post& post, int rank, std::span<const Incoming> received) : post_(post) {
    for (const Incoming& message : received) expected_.push_back({message.from, rank, message.bytes});
    for (Post::Expected& message : expected_) post.expect(message);
  }
  ~ThreadPending() override {
    for (Post::Expected& message : expected_) post_.forget(message);
  }
  ThreadPending(const ThreadPending&) = delete;
  ThreadPending& operator=(const ThreadPending&) = delete;

  bool is_done() override {
    return std::ranges::all_of(expected_, [&](const Post::Expected& message) { return post_.has_come(message); });
  }
  void wait() override {
    for (const Post::Expected& message : expected_) post_.wait(message);
  }

 private:
  Post& post_;
  std::vector<Post::Expected> expected_;
};

class ThreadRank final : public Group {
 public:
  ThreadRank(Post& post, int rank, int size) : Group(rank, size), post_(post) {}

  std::unique_ptr<Pending> begin(std::span<const Outgoing> sent, std::span<const Incoming> received) const override {
    for (const Outgoing& message : sent) post_.send(rank(), message.to, message.bytes);
    return std::make_unique<ThreadPending>(post_, rank(), received);
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
