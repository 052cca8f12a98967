#include "libcore/parallel/group.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "libcore/parallel/tree.hpp"

namespace heddle::parallel {

namespace {

class Nothing final : public Pending {
 public:
  bool is_done() override { return true; }
  void wait() override {}
};

class Alone final : public Group {
 public:
  Alone() : Group(0, 1) {}
  std::unique_ptr<Pending> begin(std::span<const Outgoing>, std::span<const Incoming>) const override {
    return std::make_unique<Nothing>();
  }
  void abort(int) const override {}
};

// Some ranks of another group.
class Part final : public Group {
 public:
  Part(const Group& whole, std::vector<int> ranks, int rank)
      : Group(rank, static_cast<int>(ranks.size())), whole_(whole), ranks_(std::move(ranks)) {}

  std::unique_ptr<Pending> begin(std::span<const Outgoing> sent, std::span<const Incoming> received) const override {
    std::vector<Outgoing> out(sent.begin(), sent.end());
    std::vector<Incoming> in(received.begin(), received.end());
    for (Outgoing& message : out) message.to = ranks_[static_cast<std::size_t>(message.to)];
    for (Incoming& message : in) message.from = ranks_[static_cast<std::size_t>(message.from)];
    return whole_.begin(out, in);
  }
  void wait_at_most(double seconds) const override { whole_.wait_at_most(seconds); }
  void abort(int status) const override { whole_.abort(status); }

 private:
  const Group& whole_;
  std::vector<int> ranks_;
};

}  // namespace

Range part_of(Index count, int rank, int size) {
  const auto cut = [&](int at) { return count / size * at + count % size * at / size; };
  return {cut(rank), cut(rank + 1)};
}

const Group& alone() {
  static const Alone group;
  return group;
}

void Group::barrier() const {
  (void)any(false);
}

void Group::wait_for_first(const Work& work) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds between{1};
  if (is_alone()) return work([] {});
  std::vector<char> works{1};
  while (!is_first() && works.front() != 0) broadcast(works);
  if (!is_first()) return;
  auto last = Clock::now();
  const auto alive = [&] {
    if (Clock::now() - last < between) return;
    broadcast(works);
    last = Clock::now();
  };
  std::exception_ptr failure;
  try {
    work(alive);
  } catch (...) {
    failure = std::current_exception();
  }
  works = {0};
  broadcast(works);
  if (failure) std::rethrow_exception(failure);
}

template <class T>
void Group::sum(std::span<T> numbers) const {
  if (!is_alone()) sum_in_tree(*this, size(), {numbers}, numbers);
}

template void Group::sum(std::span<float>) const;
template void Group::sum(std::span<double>) const;
template void Group::sum(std::span<Index>) const;

bool Group::any(bool mine) const {
  if (is_alone()) return mine;
  std::vector<char> all(static_cast<std::size_t>(size()), 0);
  all[static_cast<std::size_t>(rank())] = mine ? 1 : 0;
  complete(std::span(all));
  return std::ranges::find(all, 1) != all.end();
}

void Group::broadcast(std::string& text, int root) const {
  std::vector<char> characters(text.begin(), text.end());
  broadcast(characters, root);
  text.assign(characters.begin(), characters.end());
}

std::vector<std::string> Group::gather(const std::string& own) const {
  std::vector<std::string> all;
  for (const std::vector<char>& text : gather(std::vector<char>(own.begin(), own.end()))) {
    all.emplace_back(text.begin(), text.end());
  }
  return all;
}

std::unique_ptr<Group> Group::split(Index colour) const {
  std::vector<int> ranks;
  int place = 0;
  const std::vector<std::vector<Index>> colours = gather(std::vector<Index>{colour});
  for (int other = 0; other < size(); ++other) {
    if (colours[static_cast<std::size_t>(other)].front() != colour) continue;
    if (other == rank()) place = static_cast<int>(ranks.size());
    ranks.push_back(other);
  }
  return std::make_unique<Part>(*this, std::move(ranks), place);
}

}  // namespace heddle::parallel
