// A group of ranks: processes, or threads in tests, that train one model together. Every rank calls the same operations
// in the same order. Sums are taken in a fixed order, so that all ranks get the same bits, and the same ones in each
// run.
//
//   group.sum(std::span(counts));             // of all ranks, on all ranks
//   if (group.any(stop_requested())) return;  // all return
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::parallel {

// Bytes for another rank, and from one.
struct Outgoing {
  int to;
  std::span<const std::byte> bytes;
};
struct Incoming {
  int from;
  std::span<std::byte> bytes;
};

// Messages on their way. What they read and write must live until they are done; those of which the receiver is gone,
// since another rank failed, are given up by the destructor.
class Pending {
 public:
  virtual ~Pending() = default;
  // Whether all are done; to be called from time to time, since some networks move nothing otherwise. Throws as wait().
  virtual bool is_done() = 0;
  // Returns when all are done. Throws Error where another rank has failed and this one lives on, or has stalled for
  // as long as Group::wait_at_most() says.
  virtual void wait() = 0;
};

class Group {
 public:
  virtual ~Group() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_alone() const { return size_ == 1; }
  // The rank that writes and reports.
  bool is_first() const { return rank_ == 0; }

  // The primitive of all other operations: sends and receives all these at once. Messages between two ranks arrive in
  // the order in which they were sent, and are received in the order in which that was begun; their lengths must agree.
  virtual std::unique_ptr<Pending> begin(std::span<const Outgoing> sent, std::span<const Incoming> received) const = 0;
  // The same, and returns when all are done.
  void exchange(std::span<const Outgoing> sent, std::span<const Incoming> received) const {
    begin(sent, received)->wait();
  }
  // Timeout for waiting on another rank: 0 seconds, the default, for none. Ranks that are threads ignore it.
  virtual void wait_at_most(double) const {}
  // The first rank works, and the others wait until it has returned or thrown. `alive` is to be called from time to
  // time, so that they know that it has not stalled.
  using Work = std::function<void(const std::function<void()>& alive)>;
  void wait_for_first(const Work& work) const;
  // Ends all ranks with this status, because this one has failed; returns only where ranks are threads.
  virtual void abort(int status) const = 0;
  // The last call: waits for the other ranks.
  virtual void leave() const { barrier(); }

  // Returns when all ranks have called it.
  void barrier() const;

  // The sum over the ranks of each number. T: float, double, Index.
  template <class T>
  void sum(std::span<T> numbers) const;
  bool any(bool mine) const;

  // Returns the root's value.
  template <class T>
  void broadcast(std::vector<T>& values, int root = 0) const;
  void broadcast(std::string& text, int root = 0) const;

  // Concatenates the values of all ranks, in their order; ranks may have different numbers of values.
  template <class T>
  std::vector<std::vector<T>> gather(const std::vector<T>& own) const;
  std::vector<std::string> gather(const std::string& own) const;
  // Every rank has its own part_of() all these values; fills in the others.
  template <class T>
  void complete(std::span<T> values) const;

  // The ranks that give the same colour, in the order that they have here. It must not outlive this group.
  std::unique_ptr<Group> split(Index colour) const;

 protected:
  Group(int rank, int size) : rank_(rank), size_(size) {}

 private:
  int rank_, size_;
};

// [begin, end)
struct Range {
  Index begin, end;
  Index count() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// The part of `count` things that is the rank's, where they are divided among `size` ranks as evenly as possible.
Range part_of(Index count, int rank, int size);

// The group of one process.
const Group& alone();

template <class T>
std::vector<std::vector<T>> Group::gather(const std::vector<T>& own) const {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::vector<T>> all(static_cast<std::size_t>(size()));
  std::vector<Index> counts(all.size(), 0);
  counts[static_cast<std::size_t>(rank())] = std::ssize(own);
  std::vector<Outgoing> lengths, sent;
  std::vector<Incoming> lengths_in, received;
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    const auto at = static_cast<std::size_t>(other);
    lengths.push_back({other, std::as_bytes(std::span(&counts[static_cast<std::size_t>(rank())], 1))});
    lengths_in.push_back({other, std::as_writable_bytes(std::span(&counts[at], 1))});
  }
  exchange(lengths, lengths_in);
  for (int other = 0; other < size(); ++other) {
    const auto at = static_cast<std::size_t>(other);
    all[at].resize(static_cast<std::size_t>(counts[at]));
    if (other == rank()) continue;
    sent.push_back({other, std::as_bytes(std::span(own))});
    received.push_back({other, std::as_writable_bytes(std::span(all[at]))});
  }
  exchange(sent, received);
  all[static_cast<std::size_t>(rank())] = own;
  return all;
}

template <class T>
void Group::broadcast(std::vector<T>& values, int root) const {
  std::vector<Index> count{std::ssize(values)};
  std::vector<Outgoing> length, sent;
  if (rank() == root) {
    for (int other = 0; other < size(); ++other) {
      if (other == root) continue;
      length.push_back({other, std::as_bytes(std::span(count))});
      sent.push_back({other, std::as_bytes(std::span(values))});
    }
    exchange(length, {});
    exchange(sent, {});
  } else {
    const Incoming first{root, std::as_writable_bytes(std::span(count))};
    exchange({}, std::span(&first, 1));
    values.resize(static_cast<std::size_t>(count.front()));
    const Incoming rest{root, std::as_writable_bytes(std::span(values))};
    exchange({}, std::span(&rest, 1));
  }
}

template <class T>
void Group::complete(std::span<T> values) const {
  const auto part = [&](int of) {
    const Range range = part_of(std::ssize(values), of, size());
    return values.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.count()));
  };
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    sent.push_back({other, std::as_bytes(part(rank()))});
    received.push_back({other, std::as_writable_bytes(part(other))});
  }
  exchange(sent, received);
}

}  // namespace heddle::parallel
