#include "tools/training/measure_network.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace heddle {

namespace {

using Numbers = std::vector<double>;

double median_seconds(int times, const std::function<void()>& body) {
  body();
  Numbers seconds;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + times / 2);
  return seconds[static_cast<std::size_t>(times) / 2];
}

// Both send so many messages of so many numbers, all at once.
class Pair {
 public:
  Pair(const parallel::Group& group, int other) : group_(group), other_(other) {}

  void exchange(std::size_t messages, std::size_t numbers) {
    sent_.resize(numbers);
    received_.resize(numbers * messages);
    std::vector<parallel::Outgoing> out(messages, {other_, std::as_bytes(std::span(sent_))});
    std::vector<parallel::Incoming> in;
    for (std::size_t i = 0; i < messages; ++i) {
      in.push_back({other_, std::as_writable_bytes(std::span(received_).subspan(i * numbers, numbers))});
    }
    group_.exchange(out, in);
  }
  // One sends, then the other one.
  void round_trip() {
    sent_.resize(1);
    received_.resize(1);
    const parallel::Outgoing out{other_, std::as_bytes(std::span(sent_))};
    const parallel::Incoming in{other_, std::as_writable_bytes(std::span(received_))};
    if (group_.is_first()) group_.exchange(std::span(&out, 1), {});
    group_.exchange({}, std::span(&in, 1));
    if (!group_.is_first()) group_.exchange(std::span(&out, 1), {});
  }

 private:
  const parallel::Group& group_;
  int other_;
  Numbers sent_, received_;
};

}  // namespace

Network measure_network(const parallel::Group& group) {
  constexpr std::size_t many = 64, large = (4 << 20) / sizeof(double);
  std::vector<Network> network(1);
  const int last = group.size() - 1;
  if (group.is_first() || group.rank() == last) {
    Pair pair(group, group.is_first() ? last : 0);
    Network& found = network.front();
    found.latency = median_seconds(200, [&] { pair.round_trip(); }) / 2;
    found.overhead = median_seconds(50, [&] { pair.exchange(many, 1); }) / static_cast<double>(many);
    found.bandwidth = static_cast<double>(large * sizeof(double)) / median_seconds(9, [&] { pair.exchange(1, large); });
  }
  group.broadcast(network);
  return network.front();
}

}  // namespace heddle
