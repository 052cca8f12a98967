#include "libcore/training/state.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "libcore/base/strings.hpp"

namespace heddle::training {

namespace {

// Request of the first rank: the n-th tensor of a rank; a negative rank ends it.
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

// Place of a tensor, or of a part of one, on a rank.
struct Piece {
  int rank;
  Index number;  // index among the rank's tensors
  Shape shape;
  std::optional<nn::PartOfWhole> part;
};
using Pieces = std::vector<Piece>;

// The names of this rank's tensors; and for each its dimension of parts, where the part begins and the extent of the
// whole (dimension -1: it is whole), the number of its extents, and these.
struct Listing {
  std::string names;
  std::vector<Index> places;
};

Listing listing_of(const std::vector<StateTensor>& own) {
  Listing listing;
  for (const auto& [name, value, part] : own) {
    listing.names += name + "\n";
    const nn::PartOfWhole of = part.value_or(nn::PartOfWhole{-1, 0, 0});
    for (const Index number : {static_cast<Index>(of.dimension), of.begin, of.whole}) listing.places.push_back(number);
    listing.places.push_back(value.shape().rank());
    for (const Index extent : value.shape().extents()) listing.places.push_back(extent);
  }
  return listing;
}

Piece next_piece(int rank, Index number, std::vector<Index>::const_iterator& next) {
  const nn::PartOfWhole part{static_cast<int>(next[0]), next[1], next[2]};
  const std::vector<Index> extents(next + 4, next + 4 + next[3]);
  next += 4 + next[3];
  return {rank, number, Shape(extents), part.dimension < 0 ? std::nullopt : std::optional(part)};
}

// Whether one of these has the same place.
bool has_place(const Pieces& pieces, const Piece& piece) {
  return std::ranges::any_of(pieces, [&](const Piece& other) {
    return !piece.part || (other.part && other.part->begin == piece.part->begin);
  });
}

// The tensors of all ranks, in the order in which ranks list them; of each part the first rank's that has it.
std::vector<std::pair<std::string, Pieces>> pieces_of(const std::vector<std::string>& names,
                                                      const std::vector<std::vector<Index>>& places) {
  std::vector<std::pair<std::string, Pieces>> all;
  std::map<std::string, std::size_t> known;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    auto next = places[rank].begin();
    Index number = 0;
    for (const std::string& name : split(names[rank], '\n')) {
      if (name.empty()) continue;  // after the last
      const Piece piece = next_piece(static_cast<int>(rank), number++, next);
      const auto [found, is_new] = known.emplace(name, all.size());
      if (is_new) all.push_back({name, {}});
      Pieces& pieces = all[found->second].second;
      if (pieces.empty() || !has_place(pieces, piece)) pieces.push_back(piece);
    }
  }
  return all;
}

Tensor get_piece(const Piece& piece, const std::vector<StateTensor>& own, const Asking& asking) {
  if (piece.rank == 0) return own[static_cast<std::size_t>(piece.number)].value;
  return asking.get(piece.rank, piece.number, piece.shape);
}

Tensor get_whole(const Pieces& pieces, const std::vector<StateTensor>& own, const Asking& asking) {
  const Piece& first = pieces.front();
  if (!first.part) return get_piece(first, own, asking);
  Shape shape = first.shape;
  shape.set(first.part->dimension, first.part->whole);
  const Tensor whole(shape);
  for (const Piece& piece : pieces) {
    nn::part_of(whole, *piece.part, piece.shape).assign(get_piece(piece, own, asking));
  }
  return whole;
}

}  // namespace

void show_state(const std::vector<StateTensor>& own, const parallel::Group& group,
                const std::function<void(const std::vector<StateSource>&)>& save) {
  std::vector<StateSource> sources;
  if (group.is_alone()) {
    for (const StateTensor& tensor : own) sources.push_back({tensor.name, [value = tensor.value] { return value; }});
    return save(sources);
  }
  const Listing listing = listing_of(own);
  const std::vector<std::string> names = group.gather(listing.names);
  const std::vector<std::vector<Index>> places = group.gather(listing.places);
  if (!group.is_first()) return answer(own, group);
  const Asking asking(group);
  for (auto& [name, pieces] : pieces_of(names, places)) {
    sources.push_back({name, [&, pieces = std::move(pieces)] { return get_whole(pieces, own, asking); }});
  }
  save(sources);
}

}  // namespace heddle::training
