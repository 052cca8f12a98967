#include "libcore/training/gradient_tree.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "libcore/nn/parts.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

using Rows = std::vector<Index>;

// Ranks exchange at most so many numbers at once; gradients of fewer than the second go together.
constexpr Index most_exchanged = 1 << 20, least_alone = 1 << 16;

// sum[i] += added[i], or + 0, which makes zeros of negative ones as an addition of zeros on another rank does.
HEDDLE_KERNEL void add_numbers(Real* sum, const Real* added, Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += added[i];
}
HEDDLE_KERNEL void add_zeros(Real* sum, Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += Real(0);
}

std::vector<TokenId> ids_of_rows(const Rows& rows) {
  return {rows.begin(), rows.end()};
}

Index width_of(const Tensor& table) {
  return table.size() / table.shape()[0];
}

// For each of these rows its place in the others, which are sorted, or -1.
Rows places_in(const Rows& others, const Rows& rows) {
  Rows places;
  for (const Index row : rows) {
    const auto found = std::ranges::lower_bound(others, row);
    places.push_back(found != others.end() && *found == row ? found - others.begin() : -1);
  }
  return places;
}

Rows all_rows(const Tensor& table) {
  Rows rows(static_cast<std::size_t>(table.shape()[0]));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

template <class Body>
void for_each_row(const Rows& rows, const Body& body) {
  parallel_ranges(std::ssize(rows), rows_per_task, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i, rows[static_cast<std::size_t>(i)]);
  });
}

// [rows, width] of a table.
Tensor packed(const Tensor& table, const Rows& rows) {
  if (rows.empty()) return {};
  const Index width = width_of(table);
  const Tensor result({std::ssize(rows), width});
  for_each_row(rows,
               [&](Index i, Index row) { std::copy_n(table.data() + row * width, width, result.data() + i * width); });
  return result;
}

void unpack(const Tensor& values, const Rows& rows, const Tensor& table) {
  const Index width = width_of(table);
  for_each_row(rows,
               [&](Index i, Index row) { std::copy_n(values.data() + i * width, width, table.data() + row * width); });
}

// Adds packed rows to these rows of a table, and zeros to those that are not packed.
void add_packed(const Tensor& table, const Rows& rows, const Tensor& values, const Rows& which) {
  const Index width = width_of(table);
  const Rows places = places_in(which, rows);
  for_each_row(rows, [&](Index i, Index row) {
    const Index place = places[static_cast<std::size_t>(i)];
    if (place < 0) return add_zeros(table.data() + row * width, width);
    add_numbers(table.data() + row * width, values.data() + place * width, width);
  });
}

void add_all(const Tensor& sum, const Tensor& added) {
  parallel_ranges(sum.size(), slice_elements,
                  [&](Index begin, Index end) { add_numbers(sum.data() + begin, added.data() + begin, end - begin); });
}

// [count] zeros with these rows.
Tensor spread(const Tensor& values, const Rows& rows, Index count, Index width) {
  const Tensor result({count, width}, Real(0));
  if (!rows.empty()) unpack(values, rows, result);
  return result;
}

}  // namespace

GradientTree::GradientTree(Parameters& parameters, Index leaves, const parallel::Group& group)
    : parameters_(parameters), leaves_(leaves), group_(group) {
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.is_trained()) continue;
    Gradient* const root = parameter.variable.gradient()->root();
    if (gradients_.empty() || gradients_.back() != root) gradients_.push_back(root);
  }
}

void GradientTree::start() {
  waiting_.clear();
  parameters_.clear_gradients();
}

void GradientTree::add(Index leaf) {
  const Part part(nn::parts::optimizer);
  Section section("sum of gradients");
  parallel::Range node{leaf, leaf + 1};
  while (!waiting_.empty() && parallel::parent(node, leaves_).begin == waiting_.back().node.begin) {
    add_waiting(waiting_.back().parts);
    node.begin = waiting_.back().node.begin;
    waiting_.pop_back();
  }
  if (leaf + 1 == own().end) return;
  waiting_.push_back({node, release()});
}

void GradientTree::finish() {
  if (!group_.is_alone()) sum_over_ranks();
  waiting_.clear();
}

// The gradients, which are empty then. Of rows copies, since the whole table goes from step to step.
std::vector<GradientTree::Waiting> GradientTree::release() const {
  std::vector<Waiting> parts;
  for (Gradient* const gradient : gradients_) {
    Waiting part;
    part.rows = gradient->rows();
    if (part.rows) {
      part.values = packed(gradient->tensor(), *part.rows);
      gradient->clear();
    } else {
      part.values = gradient->release();
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

void GradientTree::add_waiting(const std::vector<Waiting>& parts) const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Gradient& gradient = *gradients_[i];
    const Waiting& part = parts[i];
    if (!part.values.empty() && !part.rows) {
      add_all(gradient.adding_target(), part.values);
      continue;
    }
    if (part.rows) (void)gradient.adding_target(ids_of_rows(*part.rows));
    if (gradient.is_empty()) continue;
    const Tensor sum = gradient.tensor();
    add_packed(sum, gradient.rows().value_or(all_rows(sum)), part.values, part.rows.value_or(Rows()));
  }
}

// What is added on any rank: nothing, rows, or all elements; the rows are those of all ranks.
std::vector<GradientTree::Extent> GradientTree::extents() const {
  std::vector<char> kinds(gradients_.size(), Extent::nothing);
  std::vector<Rows> rows(gradients_.size());
  const auto see = [&](std::size_t i, bool is_empty, const std::optional<Rows>& of) {
    if (!of && is_empty) return;
    kinds[i] = std::max<char>(kinds[i], of ? Extent::rows : Extent::all);
    if (of) rows[i].insert(rows[i].end(), of->begin(), of->end());
  };
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    const Gradient& gradient = *gradients_[i];
    see(i, gradient.is_empty(), gradient.rows());
    for (const Sum& sum : waiting_) see(i, sum.parts[i].values.empty(), sum.parts[i].rows);
  }
  for (const std::vector<char>& of_rank : group_.gather(kinds)) {
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = std::max(kinds[i], of_rank[i]);
  }
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Extent extent{static_cast<Extent::Kind>(kinds[i]), {}};
    if (extent.kind == Extent::rows) {
      for (const Rows& of_rank : group_.gather(rows[i])) {
        extent.which.insert(extent.which.end(), of_rank.begin(), of_rank.end());
      }
      std::ranges::sort(extent.which);
      extent.which.erase(std::unique(extent.which.begin(), extent.which.end()), extent.which.end());
    }
    extents.push_back(std::move(extent));
  }
  return extents;
}

// A gradient's numbers in each of this rank's nodes, in order and as the extent has them. The last ones are those of
// the gradient itself, of which rows are copies.
std::vector<Tensor> GradientTree::addends(std::size_t i, const Extent& extent) const {
  Gradient& gradient = *gradients_[i];
  const bool is_of_rows = extent.kind == Extent::rows;
  const Tensor own = is_of_rows ? gradient.adding_target(ids_of_rows(extent.which)) : gradient.adding_target();
  const Index width = width_of(own), height = is_of_rows ? std::ssize(extent.which) : own.shape()[0];
  std::vector<Tensor> all;
  for (const Sum& waiting : waiting_) {
    const auto& [values, rows] = waiting.parts[i];
    const bool is_ready = !is_of_rows && !rows && !values.empty();
    const Rows which = rows.value_or(Rows());
    all.push_back(is_ready ? values
                           : spread(values, is_of_rows ? places_in(extent.which, which) : which, height, width));
  }
  all.push_back(is_of_rows ? packed(own, extent.which) : own);
  return all;
}

// Small gradients go together: a message of few numbers takes as long as one of thousands.
void GradientTree::sum_over_ranks() const {
  const std::vector<Extent> all = extents();
  std::vector<std::vector<Tensor>> small;
  Index small_count = 0;
  const auto sum_small = [&] {
    sum_together(small, small_count);
    small.clear();
    small_count = 0;
  };
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    if (all[i].kind == Extent::nothing || (all[i].kind == Extent::rows && all[i].which.empty())) continue;
    std::vector<Tensor> numbers = addends(i, all[i]);
    if (all[i].kind == Extent::rows) {
      sum_numbers(numbers);
      unpack(numbers.back(), all[i].which, gradients_[i]->tensor());
    } else if (numbers.back().size() >= least_alone) {
      sum_numbers(numbers);
    } else {
      small_count += numbers.back().size();
      small.push_back(std::move(numbers));
    }
    if (small_count >= most_exchanged) sum_small();
  }
  sum_small();
}

// The sum over all ranks' nodes takes the place of the last addend.
void GradientTree::sum_numbers(const std::vector<Tensor>& addends) const {
  for (Index begin = 0; begin < addends.back().size(); begin += most_exchanged) {
    const auto count = static_cast<std::size_t>(std::min(most_exchanged, addends.back().size() - begin));
    std::vector<std::span<const Real>> own;
    for (const Tensor& addend : addends) own.emplace_back(addend.data() + begin, count);
    parallel::sum_in_tree(group_, leaves_, own, std::span(addends.back().data() + begin, count));
  }
}

void GradientTree::sum_together(const std::vector<std::vector<Tensor>>& gradients, Index count) const {
  if (gradients.empty()) return;
  std::vector<Tensor> joined;
  for (std::size_t node = 0; node < gradients.front().size(); ++node) {
    joined.emplace_back(Shape{count});
    Real* to = joined.back().data();
    for (const std::vector<Tensor>& addends : gradients)
      to = std::copy_n(addends[node].data(), addends[node].size(), to);
  }
  sum_numbers(joined);
  const Real* from = joined.back().data();
  for (const std::vector<Tensor>& addends : gradients) {
    std::copy_n(from, addends.back().size(), addends.back().data());
    from += addends.back().size();
  }
}

}  // namespace heddle::training
