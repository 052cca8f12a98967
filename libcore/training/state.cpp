#include "libcore/training/state.hpp"

#include <set>
#include <span>

#include "libcore/base/strings.hpp"

namespace heddle::training {

namespace {

// What the first rank asks for: the n-th tensor of a rank; a negative rank ends it.
using Request = std::vector<Index>;
const Request no_more{-1, 0};

template <class T>
std::span<T> numbers_of(const Tensor& tensor) {
  return {tensor.data(), static_cast<std::size_t>(tensor.size())};
}

class Asking {
 public:
  explicit Asking(const parallel::Group& group) : group_(group) {}
  // A rank that is lost is found out by the next operation.
  ~Asking() {
    try {
      Request request = no_more;
      group_.broadcast(request);
    } catch (const Error&) {
    }
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  Tensor get(int rank, Index number, const Shape& shape) const {
    Request request{rank, number};
    group_.broadcast(request);
    const Tensor tensor(shape);
    const parallel::Incoming message{rank, std::as_writable_bytes(numbers_of<Real>(tensor))};
    group_.exchange({}, {&message, 1});
    return tensor;
  }

 private:
  const parallel::Group& group_;
};

void answer(const std::vector<StateTensor>& own, const parallel::Group& group) {
  while (true) {
    Request request;
    group.broadcast(request);
    if (request == no_more) return;
    if (request[0] != group.rank()) continue;
    const Tensor& tensor = own[static_cast<std::size_t>(request[1])].value;
    const parallel::Outgoing message{0, std::as_bytes(numbers_of<const Real>(tensor))};
    group.exchange({&message, 1}, {});
  }
}

// The names of this rank's tensors, and their extents after their number.
struct Listing {
  std::string names;
  std::vector<Index> shapes;
};

Listing listing_of(const std::vector<StateTensor>& own) {
  Listing listing;
  for (const auto& [name, value] : own) {
    listing.names += name + "\n";
    listing.shapes.push_back(value.shape().rank());
    for (const Index extent : value.shape().extents()) listing.shapes.push_back(extent);
  }
  return listing;
}

}  // namespace

void show_state(const std::vector<StateTensor>& own, const parallel::Group& group,
                const std::function<void(const std::vector<StateSource>&)>& save) {
  std::vector<StateSource> sources;
  std::set<std::string> known;
  for (const auto& [name, value] : own) {
    sources.push_back({name, [value = value] { return value; }});
    known.insert(name);
  }
  if (group.is_alone()) return save(sources);
  const Listing listing = listing_of(own);
  const std::vector<std::string> names = group.gather(listing.names);
  const std::vector<std::vector<Index>> shapes = group.gather(listing.shapes);
  if (!group.is_first()) return answer(own, group);
  const Asking asking(group);
  for (int rank = 1; rank < group.size(); ++rank) {
    auto next = shapes[static_cast<std::size_t>(rank)].begin();
    Index number = 0;
    for (const std::string& name : split(names[static_cast<std::size_t>(rank)], '\n')) {
      if (name.empty()) continue;  // after the last
      const std::vector<Index> extents(next + 1, next + 1 + *next);
      next += 1 + *next;
      const Index of = number++;
      if (!known.insert(name).second) continue;
      sources.push_back({name, [=, &asking, shape = Shape(extents)] { return asking.get(rank, of, shape); }});
    }
  }
  save(sources);
}

}  // namespace heddle::training
