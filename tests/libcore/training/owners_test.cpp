// Assignment of parameters to ranks, and the exchange of gradients.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "libcore/autograd/first_uses.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "libcore/training/gradient_exchange.hpp"
#include "libcore/training/gradient_tree.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/owners.hpp"
#include "libcore/training/weight_exchange.hpp"
#include "short_training.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace owners_tests {

namespace {

// Counts messages that are begun.
class Counting final : public parallel::Group {
 public:
  explicit Counting(const parallel::Group& of) : Group(of.rank(), of.size()), of_(of) {}
  std::unique_ptr<parallel::Pending> begin(std::span<const parallel::Outgoing> sent,
                                           std::span<const parallel::Incoming> received) const override {
    bytes_ += std::accumulate(sent.begin(), sent.end(), std::size_t{0},
                              [](std::size_t sum, const parallel::Outgoing& of) { return sum + of.bytes.size(); });
    return of_.begin(sent, received);
  }
  void abort(int status) const override { of_.abort(status); }
  std::size_t bytes() const { return bytes_; }

 private:
  const parallel::Group& of_;
  mutable std::size_t bytes_ = 0;
};

std::vector<Index> held_by(const std::vector<int>& owners, const std::vector<Index>& sizes, int ranks) {
  std::vector<Index> held(static_cast<std::size_t>(ranks), 0);
  for (std::size_t i = 0; i < sizes.size(); ++i) held[static_cast<std::size_t>(owners[i])] += sizes[i];
  return held;
}

// As large as a part of a round, and small ones.
void declare(Parameters& parameters) {
  const Scope scope(parameters, "");
  (void)scope.parameter("embedding/token", {40, 8}, Initializer::normal(1), Decay::yes);
  for (const std::string layer : {"0", "1", "2", "3", "4", "5"}) {
    (void)scope.parameter("decoder/" + layer + "/weight", {300, 300}, Initializer::normal(1), Decay::yes);
    (void)scope.stacked({"decoder/" + layer + "/a", "decoder/" + layer + "/b"}, {5, 7}, Initializer::normal(1),
                        Decay::yes);
    (void)scope.parameter("decoder/" + layer + "/bias", {300}, Initializer::zeros(), Decay::no);
  }
}

}  // namespace

TEST_CASE("owners: sizes are balanced, and equal ones go round") {
  CHECK(balanced({5, 5, 5, 5}, 2) == std::vector<int>{0, 1, 0, 1});
  CHECK(balanced({1, 2, 9}, 2) == std::vector<int>{1, 1, 0});
  CHECK(balanced({}, 3).empty());
  const std::vector<Index> sizes{7, 1, 12, 3, 3, 9, 2, 4, 4, 7};
  for (const int ranks : {1, 2, 3, 4}) {
    const std::vector<Index> held = held_by(balanced(sizes, ranks), sizes, ranks);
    const auto [least, most] = std::ranges::minmax(held);
    CHECK(most - least <= 2);
  }
}

TEST_CASE("owners: each parameter is updated by one rank, tables of embeddings by all, and state is kept for these") {
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    std::vector<std::set<std::string>> names(static_cast<std::size_t>(ranks));
    std::vector<Index> numbers(names.size());
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      Parameters parameters{ParameterSource(1)};
      declare(parameters);
      Owners owners(parameters, group);
      const auto at = static_cast<std::size_t>(group.rank());
      for (const Parameter& parameter : owners.own().all()) names[at].insert(parameter.name);
      const auto optimizer = OptimizerChoice::from("adamw")->make(owners.own());
      for (const StateTensor& tensor : optimizer->state()) numbers[at] += tensor.value.size();
    });
    std::multiset<std::string> all;
    for (const auto& of_rank : names) all.insert(of_rank.begin(), of_rank.end());
    CHECK(all.count("embedding/token") == static_cast<std::size_t>(ranks));
    CHECK(all.size() == 24 + static_cast<std::size_t>(ranks));
    for (std::size_t rank = 0; rank < names.size(); ++rank) {
      CHECK(names[rank].contains("decoder/1/a") == names[rank].contains("decoder/1/b"));  // stored as one
    }
    const Index weights = 6 * (300 * 300 + 2 * 35 + 300), table = 40 * 8;
    CHECK(std::accumulate(numbers.begin(), numbers.end(), Index{0}) == 2 * (weights + ranks * table));
    CHECK(*std::ranges::max_element(numbers) <= 2 * (weights / ranks + 400 + table));
  }
}

TEST_CASE("exchange: gradients are on their way as soon as the backward pass has completed them") {
  parallel::on_ranks(2, [](const parallel::Group& whole) {
    const OnThreads scope(1);
    const Counting group(whole);
    Parameters parameters{ParameterSource(1)};
    declare(parameters);
    const Owners owners(parameters, group);
    GradientTree tree(owners.trained(), 2, group);
    GradientExchange exchange(parameters, owners, tree, group);
    tree.start();
    std::map<std::string, std::size_t> sent;  // bytes, before the backward pass reaches the parameter
    {
      Recording recording;
      exchange.watch(recording);
      Variable y = leaf(Tensor({1}, Real(1)));
      for (const Parameter& parameter : parameters.all()) {
        y = record(y.value().copy(), {y, parameter.variable}, [&, below = y.gradient()](const Tensor& dy) {
          sent[parameter.name] = group.bytes();
          parameter.variable.gradient()->adding_target().add(
              Tensor(parameter.value().shape(), static_cast<Real>(group.rank() + 1)));
          below->target().tensor.assign(dy);
        });
      }
      recording.backward(y);
    }
    CHECK(sent.at("decoder/4/weight") == 0);
    CHECK(sent.at("decoder/3/weight") >= 300 * 300 * sizeof(Real));  // gradients of the layers above
    tree.add(group.rank());
    exchange.finish();
    for (const Parameter& parameter : owners.own().all()) {
      CHECK(parameter.gradient().elements() == std::vector<Real>(static_cast<std::size_t>(parameter.size()), 3));
    }
  });
}

namespace {

// Delivers what was begun when it is waited for, and not before.
class Late final : public parallel::Group {
 public:
  explicit Late(const parallel::Group& of) : Group(of.rank(), of.size()), of_(of) {}
  std::unique_ptr<parallel::Pending> begin(std::span<const parallel::Outgoing> sent,
                                           std::span<const parallel::Incoming> received) const override {
    return std::make_unique<Waiting>(of_, received, of_.begin(sent, {}));
  }
  void abort(int status) const override { of_.abort(status); }

 private:
  class Waiting final : public parallel::Pending {
   public:
    Waiting(const parallel::Group& of, std::span<const parallel::Incoming> received,
            std::unique_ptr<parallel::Pending> sent)
        : of_(of), received_(received.begin(), received.end()), sent_(std::move(sent)) {}
    bool is_done() override { return false; }
    void wait() override {
      of_.exchange({}, received_);
      sent_->wait();
    }

   private:
    const parallel::Group& of_;
    std::vector<parallel::Incoming> received_;
    std::unique_ptr<parallel::Pending> sent_;
  };
  const parallel::Group& of_;
};

// Uses every parameter in turn, each but embeddings announced; `see` is called before each use.
void use_all(const Parameters& parameters, const std::function<void(const Parameter&)>& see) {
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.name.starts_with("embedding")) about_to_use({parameter.variable});
    see(parameter);
    (void)record(Tensor({1}, Real(0)), {parameter.variable}, [](const Tensor&) {});
  }
}

}  // namespace

TEST_CASE("weights of other ranks arrive when a pass announces their use, those whose use it does not before it") {
  parallel::on_ranks(2, [](const parallel::Group& whole) {
    const OnThreads scope(1);
    const Late group(whole);
    Parameters parameters{ParameterSource(1)};
    declare(parameters);
    (void)Scope(parameters, "").parameter("norm/gain", {5}, Initializer::zeros(), Decay::no);
    const Owners owners(parameters, group);
    WeightExchange exchange(owners, group);
    for (int step = 1; step <= 3; ++step) {
      for (const Parameter& parameter : owners.own().all()) parameter.value().fill(static_cast<Real>(step));
      exchange.updated();
      Recording recording;
      const WeightExchange::During during(exchange, recording);
      Index early = 0;
      use_all(parameters, [&](const Parameter& parameter) {
        CHECK(parameter.value()[0] == static_cast<Real>(step));
        early += parameters.all().back().value()[0] == static_cast<Real>(step) ? 0 : 1;
      });
      // The first pass shows which uses are announced; the last parameter is one of these.
      if (owners.own().find("norm/gain") == nullptr) CHECK(early == (step == 1 ? 0 : std::ssize(parameters.all()) - 1));
      exchange.finish();
    }
  });
}

TEST_CASE(
    "weights: updates that are exchanged as bfloat16 are rounded on any number of ranks, and are half the bytes") {
  const auto updated = [](Precision exchanged, int ranks) {
    std::vector<std::map<std::string, std::vector<Real>>> weights(static_cast<std::size_t>(ranks));
    std::vector<std::size_t> sent(weights.size());
    parallel::on_ranks(ranks, [&](const parallel::Group& whole) {
      const OnThreads scope(1);
      const Counting group(whole);
      const auto rank = static_cast<std::size_t>(group.rank());
      Parameters parameters{ParameterSource(1)};
      declare(parameters);
      const Owners owners(parameters, group);
      WeightExchange exchange(owners, group, exchanged);
      for (int step = 0; step < 2; ++step) {
        exchange.before_update();
        for (const Parameter& parameter : owners.own().all()) {
          for (Index i = 0; i < parameter.size(); ++i)
            parameter.value()[i] += static_cast<Real>(1e-3 / static_cast<double>(i % 7 + 1));
        }
        exchange.updated();
        exchange.finish();
      }
      for (const Parameter& parameter : parameters.all()) weights[rank][parameter.name] = parameter.value().elements();
      sent[rank] = group.bytes();
    });
    for (const auto& of_rank : weights) CHECK(of_rank == weights[0]);
    return std::pair(weights[0], std::accumulate(sent.begin(), sent.end(), std::size_t{0}));
  };
  const auto [whole, bytes] = updated(Precision::f32, 2);
  const auto [rounded, half] = updated(Precision::bf16, 2);
  CHECK(updated(Precision::bf16, 1) == std::pair(rounded, std::size_t{0}));
  CHECK(updated(Precision::bf16, 3).first == rounded);
  CHECK(bytes == 2 * half);
  CHECK(rounded.at("embedding/token") == whole.at("embedding/token"));  // updated by all, not sent
  const std::vector<Real>&a = rounded.at("decoder/0/weight"), &b = whole.at("decoder/0/weight");
  CHECK(a != b);
  for (std::size_t i = 0; i < a.size(); i += 97) CHECK(std::abs(a[i] - b[i]) <= 2e-3 / 256);
}

TEST_CASE("weights: an update is rounded to bfloat16 and added to the weight before it") {
  Parameters parameters{ParameterSource(1)};
  const Variable weight = Scope(parameters, "").parameter("weight", {2}, Initializer::zeros(), Decay::no);
  const Owners owners(parameters, parallel::alone());
  RoundedUpdates updates(owners, parallel::alone());
  weight.value()[0] = 10;
  weight.value()[1] = -1;
  updates.keep();
  weight.value()[0] = 11.01171875;  // + 1.01171875, half-way between two of bfloat16: to the even one
  weight.value()[1] = -1;
  updates.round();
  CHECK(weight.value()[0] == Real(11.015625));
  CHECK(weight.value()[1] == -1);
}

TEST_CASE("weights that are read before they have arrived are an error") {
  CHECK_THROWS_WITH_AS(parallel::on_ranks(2,
                                          [](const parallel::Group& whole) {
                                            const OnThreads scope(1);
                                            const Late group(whole);
                                            Parameters parameters{ParameterSource(1)};
                                            declare(parameters);
                                            const Owners owners(parameters, group);
                                            WeightExchange exchange(owners, group);
                                            for (const bool announces : {true, false}) {
                                              exchange.updated();
                                              Recording recording;
                                              const WeightExchange::During during(exchange, recording);
                                              for (const Parameter& parameter : parameters.all()) {
                                                if (announces) about_to_use({parameter.variable});
                                                (void)record(Tensor({1}, Real(0)), {parameter.variable},
                                                             [](const Tensor&) {});
                                              }
                                              exchange.finish();
                                            }
                                          }),
                       doctest::Contains("was used before it had arrived from rank"), Error);
}

}  // namespace owners_tests
