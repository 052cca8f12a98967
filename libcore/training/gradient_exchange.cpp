#include "libcore/training/gradient_exchange.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "libcore/nn/parts.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

// Gradients of fewer numbers go together: a message of few numbers takes as long as one of thousands.
constexpr Index least_alone = 1 << 16;

HEDDLE_KERNEL void convert(const Real* from, Index count, BFloat16* to) {
  for (Index i = 0; i < count; ++i) store(to[i], from[i]);
}
HEDDLE_KERNEL void convert(const BFloat16* from, Index count, Real* to) {
  for (Index i = 0; i < count; ++i) to[i] = load(from[i]);
}
void convert(const Real* from, Index count, Real* to) {
  std::copy_n(from, count, to);
}

// By all threads.
template <class From, class To>
void convert_all(const From* from, Index count, To* to) {
  parallel_ranges(count, slice_elements,
                  [&](Index begin, Index end) { convert(from + begin, end - begin, to + begin); });
}

}  // namespace

GradientExchange::GradientExchange(const Parameters& parameters, const Owners& owners, GradientTree& tree,
                                   const parallel::Group& group)
    : parameters_(parameters), owners_(owners), tree_(tree), group_(group) {
  if (group.is_alone()) return;
  std::vector<std::size_t> early;  // in the order in which a backward pass completes them, about
  for (std::size_t i = owners.trained().size(); i-- > 0;) {
    numbers_[owners.trained()[i].gradient] = i;
    (has_table(owners.trained()[i]) ? late_ : early).push_back(i);
  }
  rounds_ = rounds_of(early);
}

// A chunk of small gradients comes as late as the last of them.
std::vector<GradientExchange::Round> GradientExchange::rounds_of(const std::vector<std::size_t>& gradients) const {
  const auto ranks = static_cast<std::size_t>(group_.size());
  const Index most = std::max<Index>(1, most_in_round / group_.size()), least = std::min(least_alone, most);
  std::vector<std::vector<Chunk>> chunks(ranks);
  std::vector<Chunk> small(ranks);
  for (const std::size_t i : gradients) {
    const Trained& of = owners_.trained()[i];
    const auto owner = static_cast<std::size_t>(of.owner);
    const Index size = of.size();
    for (Index begin = 0; size >= least && begin < size; begin += most) {
      const Index count = std::min(most, size - begin);
      chunks[owner].push_back({{{i, begin, count}}, count});
    }
    if (size >= least) continue;
    small[owner].pieces.push_back({i, 0, size});
    small[owner].count += size;
    if (small[owner].count >= least) chunks[owner].push_back(std::exchange(small[owner], {}));
  }
  std::vector<Round> rounds;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (small[rank].count > 0) chunks[rank].push_back(std::move(small[rank]));
    rounds.resize(std::max(rounds.size(), chunks[rank].size()), Round(ranks));
    for (std::size_t n = 0; n < chunks[rank].size(); ++n) rounds[n][rank] = std::move(chunks[rank][n]);
  }
  return rounds;
}

void GradientExchange::watch(Recording& recording) {
  if (group_.is_alone()) return;
  is_complete_.assign(owners_.trained().size(), 0);
  begun_ = 0;
  under_way_.clear();
  parameters_.watch_gradients(recording, [this](const Parameter& parameter) {
    const std::size_t gradient = numbers_.at(parameter.variable.gradient()->root());
    if (&parameter == owners_.trained()[gradient].parameters.front()) complete(gradient);
  });
}

// Also advances pending messages: some networks make no progress between calls.
void GradientExchange::complete(std::size_t gradient) {
  const Part part(nn::parts::optimizer);
  Section section("exchange of gradients");
  if (std::ranges::find(late_, gradient) == late_.end()) {
    tree_.add_last(gradient);
    is_complete_[gradient] = 1;
    for (; begun_ < rounds_.size() && is_complete(rounds_[begun_]); ++begun_) begin(rounds_[begun_]);
  }
  const auto is_ready = [](auto& numbers) { return numbers.pending->is_ready(); };
  while (!under_way_.empty() && std::visit(is_ready, under_way_.front().numbers)) finish_oldest();
}

bool GradientExchange::is_complete(const Round& round) const {
  return std::ranges::all_of(round, [&](const Chunk& chunk) {
    return std::ranges::all_of(chunk.pieces, [&](const Piece& piece) { return is_complete_[piece.gradient] != 0; });
  });
}

void GradientExchange::begin(const Round& round) {
  if (under_way_.size() == most_under_way) finish_oldest();
  UnderWay& exchange = under_way_.emplace_back();
  exchange.own = &round[static_cast<std::size_t>(group_.rank())];
  if (tree_.exchanged() == Precision::bf16) exchange.numbers.emplace<Numbers<BFloat16>>();
  std::visit([&](auto& numbers) { begin(round, numbers); }, exchange.numbers);
}

template <class T>
void GradientExchange::begin(const Round& round, Numbers<T>& numbers) const {
  typename parallel::PendingSum<T>::ForRanks for_ranks;
  for (const Chunk& chunk : round) for_ranks.push_back(numbers_of(chunk, numbers));
  numbers.sum.resize(static_cast<std::size_t>(round[static_cast<std::size_t>(group_.rank())].count));
  numbers.pending.emplace(group_, tree_.leaves(), std::move(for_ranks), std::span(numbers.sum));
}

// In each of the rank's nodes; nothing for a chunk of nothing. They need no copy where a part of one gradient is sent
// as it is.
template <class T>
std::vector<std::span<const T>> GradientExchange::numbers_of(const Chunk& chunk, Numbers<T>& numbers) const {
  std::vector<std::span<const T>> found;
  const std::size_t first = numbers.nodes.size();
  for (const Piece& piece : chunk.pieces) numbers.nodes.push_back(tree_.nodes(piece.gradient, {.kind = Extent::all}));
  for (std::size_t node = 0; !chunk.pieces.empty() && node < numbers.nodes[first].size(); ++node) {
    const auto data_of = [&](std::size_t i) { return numbers.nodes[first + i][node].data() + chunk.pieces[i].begin; };
    if constexpr (std::is_same_v<T, Real>) {
      if (chunk.pieces.size() == 1) {
        found.emplace_back(data_of(0), static_cast<std::size_t>(chunk.count));
        continue;
      }
    }
    std::vector<T>& packed = numbers.packed.emplace_back(static_cast<std::size_t>(chunk.count));
    T* to = packed.data();
    for (std::size_t i = 0; i < chunk.pieces.size(); ++i) {
      convert_all(data_of(i), chunk.pieces[i].count, to);
      to += chunk.pieces[i].count;
    }
    found.emplace_back(packed);
  }
  return found;
}

void GradientExchange::finish_oldest() {
  UnderWay& oldest = under_way_.front();
  const auto finish = [&](auto& numbers) {
    numbers.pending->finish();
    oldest.transit.arrived();
    const auto* from = numbers.sum.data();
    for (const Piece& piece : oldest.own->pieces) {
      convert_all(from, piece.count, owners_.trained()[piece.gradient].gradient->tensor().data() + piece.begin);
      from += piece.count;
    }
  };
  std::visit(finish, oldest.numbers);
  under_way_.pop_front();
}

void GradientExchange::finish() {
  if (group_.is_alone()) return;
  const Part part(nn::parts::optimizer);
  Section section("exchange of gradients");
  for (; begun_ < rounds_.size(); ++begun_) begin(rounds_[begun_]);
  while (!under_way_.empty()) finish_oldest();
  finish_late();
}

// The embeddings. Rows are summed for all ranks, of which each makes the same update, or that of what it owns.
void GradientExchange::finish_late() {
  const std::vector<Extent> extents = common_extents();
  std::vector<std::size_t> owned;
  for (std::size_t n = 0; n < late_.size(); ++n) {
    const std::size_t i = late_[n];
    if (extents[n].kind == Extent::rows) {
      sum_rows(i, extents[n]);
    } else if (extents[n].kind == Extent::all) {
      owners_.trained()[i].owner == everyone ? sum_everywhere(tree_.nodes(i, extents[n])) : owned.push_back(i);
    }
  }
  const std::vector<Round> rounds = rounds_of(owned);
  for (const Round& round : rounds) begin(round);
  while (!under_way_.empty()) finish_oldest();
}

// The part of each late gradient to which any rank adds: nothing, rows, or all elements.
std::vector<Extent> GradientExchange::common_extents() const {
  std::vector<Extent> extents;
  std::vector<char> kinds;
  for (const std::size_t i : late_) kinds.push_back(extents.emplace_back(tree_.extent(i)).kind);
  const std::vector<std::vector<char>> all = group_.gather(kinds);
  for (std::size_t n = 0; n < late_.size(); ++n) {
    for (const std::vector<char>& of_rank : all) {
      extents[n].kind = std::max(extents[n].kind, static_cast<Extent::Kind>(of_rank[n]));
    }
    std::vector<Index>& which = extents[n].which;
    if (extents[n].kind != Extent::rows) continue;
    const std::vector<Index> own = std::exchange(which, {});
    for (const std::vector<Index>& of_rank : group_.gather(own)) {
      which.insert(which.end(), of_rank.begin(), of_rank.end());
    }
    std::ranges::sort(which);
    which.erase(std::unique(which.begin(), which.end()), which.end());
  }
  return extents;
}

void GradientExchange::sum_rows(std::size_t gradient, const Extent& extent) const {
  if (extent.which.empty()) return;
  const std::vector<Tensor> nodes = tree_.nodes(gradient, extent);
  sum_everywhere(nodes);
  unpack_rows(nodes.back(), extent.which, owners_.trained()[gradient].gradient->tensor());
}

// The sum over all ranks' nodes takes the place of the last node.
void GradientExchange::sum_everywhere(const std::vector<Tensor>& nodes) const {
  for (Index begin = 0; begin < nodes.back().size(); begin += most_in_round) {
    const Index count = std::min(most_in_round, nodes.back().size() - begin);
    tree_.exchanged() == Precision::bf16 ? sum_rounded(nodes, begin, count) : sum_numbers(nodes, begin, count);
  }
}

void GradientExchange::sum_numbers(const std::vector<Tensor>& nodes, Index begin, Index count) const {
  const auto size = static_cast<std::size_t>(count);
  std::vector<std::span<const Real>> own;
  for (const Tensor& node : nodes) own.emplace_back(node.data() + begin, size);
  parallel::sum_in_tree(group_, tree_.leaves(), own, std::span(nodes.back().data() + begin, size));
}

void GradientExchange::sum_rounded(const std::vector<Tensor>& nodes, Index begin, Index count) const {
  std::vector<std::vector<BFloat16>> rounded;
  std::vector<std::span<const BFloat16>> own;
  for (const Tensor& node : nodes) {
    rounded.emplace_back(static_cast<std::size_t>(count));
    convert_all(node.data() + begin, count, rounded.back().data());
    own.emplace_back(rounded.back());
  }
  parallel::sum_in_tree(group_, tree_.leaves(), own, std::span(rounded.back()));
  convert_all(rounded.back().data(), count, nodes.back().data() + begin);
}

}  // namespace heddle::training
