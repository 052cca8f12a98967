// Evaluations whose batches ranks divide among themselves.
#pragma once

#include <exception>
#include <functional>
#include <type_traits>
#include <vector>

#include "libcore/parallel/divided.hpp"

namespace heddle::training {

// The evaluating ranks: all call the same evaluation, with equal models and data, and all get its result.
struct Evaluators {
  const parallel::Group& group = parallel::alone();
  // Asked before each batch; if it returns true on one rank, the evaluation ends and its result is undefined.
  std::function<bool()> stop = [] { return false; };
};

// Sum over the batches of an evaluation. Rank r of n computes the batches r, r + n, …; their parts are added in the
// order of the batches on every rank, so that the bits are those of one rank. Part: trivially copyable, with +=.
//
//   BatchSum<Evaluation> sum(by);
//   while (… && sum.add([&] { return part_of_this_batch(); })) …
//   return sum.total();
template <class Part>
class BatchSum {
  static_assert(std::is_trivially_copyable_v<Part>);

 public:
  explicit BatchSum(const Evaluators& by) : by_(by) {}

  // To be called on all ranks for each batch, in the same order: calls compute() on one of them. Returns false, and
  // has not computed, where an evaluator stops or the batch of one has failed; then there is nothing more to add.
  template <class Compute>
  bool add(const Compute& compute) {
    if (is_over_) return false;
    wants_to_end_ = by_.stop() || wants_to_end_;
    const Index of_round = batch_++ % by_.group.size();
    if (of_round == 0) is_over_ = by_.group.any(wants_to_end_ || failure_);
    if (is_over_) return false;
    if (of_round != by_.group.rank() || failure_) return true;
    try {
      own_.push_back(compute());
    } catch (...) {
      if (by_.group.is_alone()) throw;
      failure_ = std::current_exception();
    }
    return true;
  }

  bool is_over() const { return is_over_; }

  // To be called once on all ranks, also after an end. Throws, as parallel::together() does, what a batch threw.
  Part total() {
    parallel::together(by_.group, [&] {
      if (failure_) std::rethrow_exception(failure_);
    });
    const std::vector<std::vector<Part>> parts = by_.group.gather(own_);
    Part sum{};
    for (std::size_t batch = 0;; ++batch) {
      const std::vector<Part>& of_rank = parts[batch % parts.size()];
      if (batch / parts.size() == of_rank.size()) return sum;
      sum += of_rank[batch / parts.size()];
    }
  }

 private:
  const Evaluators& by_;
  Index batch_ = 0;
  bool wants_to_end_ = false, is_over_ = false;
  std::exception_ptr failure_;
  std::vector<Part> own_;
};

// For an evaluation that cannot be divided: the first rank computes it, and all get the result. Result: trivially
// copyable.
template <class Result, class Compute>
Result on_first(const Evaluators& by, const Compute& compute) {
  static_assert(std::is_trivially_copyable_v<Result>);
  std::vector<Result> result(1);
  by.group.wait_for_first([&](const std::function<void()>& alive) {
    result.front() = compute(Evaluators{.stop = [&] {
      alive();
      return by.stop();
    }});
  });
  by.group.broadcast(result);
  return result.front();
}

}  // namespace heddle::training
