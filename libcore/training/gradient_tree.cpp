#include "libcore/training/gradient_tree.hpp"

#include <algorithm>
#include <numeric>

#include "libcore/nn/parts.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

using Rows = std::vector<Index>;

// sum[i] += added[i], or + 0, which makes zeros of negative ones as an addition of zeros on another rank does.
HEDDLE_KERNEL void add_numbers(Real* sum, const Real* added, Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += added[i];
}
HEDDLE_KERNEL void add_zeros(Real* sum, Index count) {
  for (Index i = 0; i < count; ++i) sum[i] += Real(0);
}

HEDDLE_KERNEL void round_numbers(Real* numbers, Index count) {
  for (Index i = 0; i < count; ++i) {
    BFloat16 nearest;
    store(nearest, numbers[i]);
    numbers[i] = load(nearest);
  }
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
  if (!rows.empty()) unpack_rows(values, rows, result);
  return result;
}

}  // namespace

void unpack_rows(const Tensor& values, const std::vector<Index>& rows, const Tensor& table) {
  const Index width = width_of(table);
  for_each_row(rows,
               [&](Index i, Index row) { std::copy_n(values.data() + i * width, width, table.data() + row * width); });
}

void GradientTree::start() {
  waiting_.clear();
  has_last_.assign(trained_.size(), 0);
  for (const Trained& of : trained_) of.gradient->clear();
}

std::size_t GradientTree::halves_with(Index leaf) const {
  parallel::Range node{leaf, leaf + 1};
  std::size_t halves = 0;
  while (halves < waiting_.size()) {
    const Index begin = waiting_[waiting_.size() - 1 - halves].node.begin;
    if (parallel::parent(node, leaves_).begin != begin) break;
    node.begin = begin;
    ++halves;
  }
  return halves;
}

void GradientTree::add(Index leaf) {
  const Part part(nn::parts::optimizer);
  Section section("sum of gradients");
  const std::size_t halves = halves_with(leaf);
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    if (!has_last_[i]) add_waiting(i, halves);
  }
  const Index begin = halves > 0 ? waiting_[waiting_.size() - halves].node.begin : leaf;
  waiting_.resize(waiting_.size() - halves);
  if (leaf + 1 < own_.end) waiting_.push_back({{begin, leaf + 1}, release()});
}

void GradientTree::add_last(std::size_t gradient) {
  if (has_last_[gradient]) return;
  has_last_[gradient] = 1;
  add_waiting(gradient, halves_with(own_.end - 1));
}

// The gradients, which are empty then. Of rows copies, since the whole table goes from step to step.
std::vector<GradientTree::Waiting> GradientTree::release() const {
  std::vector<Waiting> parts;
  for (const Trained& of : trained_) {
    Waiting part;
    part.rows = of.gradient->rows();
    if (part.rows) {
      part.values = packed(of.gradient->tensor(), *part.rows);
      of.gradient->clear();
    } else {
      part.values = of.gradient->release();
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

void GradientTree::add_waiting(std::size_t i, std::size_t halves) const {
  round(i);
  for (std::size_t half = 1; half <= halves; ++half) {
    add_half(gradient(i), waiting_[waiting_.size() - half].parts[i]);
    round(i);
  }
}

void GradientTree::add_half(Gradient& sum, const Waiting& part) {
  if (!part.values.empty() && !part.rows) return add_all(sum.adding_target(), part.values);
  if (part.rows) (void)sum.adding_target(ids_of_rows(*part.rows));
  if (sum.is_empty()) return;
  const Tensor numbers = sum.tensor();
  add_packed(numbers, sum.rows().value_or(all_rows(numbers)), part.values, part.rows.value_or(Rows()));
}

void GradientTree::round(std::size_t i) const {
  if (exchanged_ == Precision::f32 || gradient(i).is_empty()) return;
  const Tensor numbers = gradient(i).tensor();
  if (const std::optional<Rows> rows = gradient(i).rows()) {
    const Index width = width_of(numbers);
    return for_each_row(*rows, [&](Index, Index row) { round_numbers(numbers.data() + row * width, width); });
  }
  parallel_ranges(numbers.size(), slice_elements,
                  [&](Index begin, Index end) { round_numbers(numbers.data() + begin, end - begin); });
}

Extent GradientTree::extent(std::size_t i) const {
  Extent extent;
  const auto see = [&](bool is_empty, const std::optional<Rows>& of) {
    if (!of && is_empty) return;
    extent.kind = std::max(extent.kind, of ? Extent::rows : Extent::all);
    if (of) extent.which.insert(extent.which.end(), of->begin(), of->end());
  };
  see(gradient(i).is_empty(), gradient(i).rows());
  for (const Sum& sum : waiting_) see(sum.parts[i].values.empty(), sum.parts[i].rows);
  return extent;
}

std::vector<Tensor> GradientTree::nodes(std::size_t i, const Extent& extent) const {
  const bool is_of_rows = extent.kind == Extent::rows;
  const Tensor last = is_of_rows ? gradient(i).adding_target(ids_of_rows(extent.which)) : gradient(i).adding_target();
  const Index width = width_of(last), height = is_of_rows ? std::ssize(extent.which) : last.shape()[0];
  std::vector<Tensor> all;
  const std::size_t others = waiting_.size() - halves_with(own_.end - 1);
  for (std::size_t node = 0; node < others; ++node) {
    const auto& [values, rows] = waiting_[node].parts[i];
    const bool is_ready = !is_of_rows && !rows && !values.empty();
    const Rows which = rows.value_or(Rows());
    all.push_back(is_ready ? values
                           : spread(values, is_of_rows ? places_in(extent.which, which) : which, height, width));
  }
  all.push_back(is_of_rows ? packed(last, extent.which) : last);
  return all;
}

}  // namespace heddle::training
