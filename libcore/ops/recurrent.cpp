#include "libcore/ops/recurrent.hpp"

#include <algorithm>
#include <array>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/operand.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index step_rows_per_task = 4, columns_per_task = 64;

HEDDLE_KERNEL void add_run(const Real* from, Real* to, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) to[i] += from[i];
}

// Rows that one task takes through all times: few, so that many threads have work, but more where each task reads
// weights that do not fit its processor's cache.
Index rows_per_task(const Tensor& weight) {
  return weight.size() <= 256 * 1024 ? 16 : 32;
}

// State of a task between time steps, and memory that it reuses.
struct Scratch {
  Operand left{Operand::Side::left}, right{Operand::Side::right};
  Operand inner{Operand::Side::right}, projection{Operand::Side::right};
  Workspace products, states, kept, gated, projected;
  static Scratch& of_thread() {
    static thread_local Scratch instance;
    return instance;
  }
};

struct Sizes {
  Index batch, time, width;
  Index gates, direct;  // width of all gates, and of those that are products of h
  Index projected;      // width of what they multiply: width without a projection
};

// Part `part` of the state of each row: [batch, width] each, of the flat result.
Tensor last_of(const Tensor& flat, const Sizes& s, Index part) {
  return flat.narrowed(0, (s.batch * (s.time + part)) * s.width, s.batch * s.width).reshaped({s.batch, s.width});
}
Tensor hidden_of(const Tensor& flat, const Sizes& s) {
  return flat.narrowed(0, 0, s.batch * s.time * s.width).reshaped({s.batch, s.time, s.width});
}

// One problem, which its forward and its backward pass share.
struct Sequence {
  const Cell* cell;
  Sizes sizes;
  std::vector<Index> lengths;
  bool reverse;
  Tensor input, weight, bias;  // the bias is never empty
  Tensor projection;           // empty: none
  std::vector<Tensor> start;
  Tensor kept;    // [batch, time, kept width]; empty where there is no backward pass
  Tensor gated;   // g of each time, [batch, time, width], of cells with a gate() where there is a backward pass
  Tensor result;  // flat: hidden [batch, time, width], then the parts of the last state [batch, width]

  Index length(Index row) const { return lengths.empty() ? sizes.time : lengths[static_cast<std::size_t>(row)]; }
  // The element that a row reads in a step, counted through the batch.
  Index element(Index row, Index step) const { return row * sizes.time + (reverse ? length(row) - 1 - step : step); }
  Index steps(Index begin, Index end) const {
    Index most = 0;
    for (Index row = begin; row < end; ++row) most = std::max(most, length(row));
    return most;
  }
  Index state_width() const { return cell->states * sizes.width; }
  // The rows of U that multiply h, and those that multiply g.
  MatrixView direct_weight() const { return matrix(weight).rows_in(0, sizes.direct); }
  MatrixView gated_weight() const { return matrix(weight).rows_in(sizes.direct, sizes.gates); }
  // h before a step: of the step before, or of the start; null for zeros.
  const Real* hidden_before(Index row, Index step) const {
    if (step > 0) return result.data() + element(row, step - 1) * sizes.width;
    return start.empty() ? nullptr : start[0].data() + row * sizes.width;
  }

  void run_rows(Index begin, Index end) const;

 private:
  void load_states(Index begin, Index end, Real* states) const;
  void store_ends(Index begin, Index end, const Real* states) const;
  void load_weights() const;
  void multiply_hidden(const Real* states, Index rows, Real* products, Index stride) const;
  void multiply_gated(const Real* gated, Index rows, Real* products, Index stride) const;
};

// The states that rows begin with.
void Sequence::load_states(Index begin, Index end, Real* states) const {
  const Index width = sizes.width;
  std::fill_n(states, (end - begin) * state_width(), Real(0));
  for (std::size_t part = 0; part < start.size(); ++part) {
    for (Index row = begin; row < end; ++row) {
      std::copy_n(start[part].data() + row * width, width,
                  states + (row - begin) * state_width() + static_cast<Index>(part) * width);
    }
  }
}

// Zeros at padding, and the states that rows end with.
void Sequence::store_ends(Index begin, Index end, const Real* states) const {
  const Index width = sizes.width;
  for (Index row = begin; row < end; ++row) {
    const Index after = length(row), padding = sizes.time - after;
    std::fill_n(result.data() + (row * sizes.time + after) * width, padding * width, Real(0));
    for (Index part = 0; part < cell->states; ++part) {
      std::copy_n(states + (row - begin) * state_width() + part * width, width,
                  last_of(result, sizes, part).data() + row * width);
    }
  }
}

void Sequence::load_weights() const {
  Scratch& memory = Scratch::of_thread();
  memory.right.load(direct_weight().flipped());
  if (cell->gate != nullptr) memory.inner.load(gated_weight().flipped());
  if (!projection.empty()) memory.projection.load(transpose(projection));
}

// products: the parts of u that are products of h, or of P h.
void Sequence::multiply_hidden(const Real* states, Index rows, Real* products, Index stride) const {
  Scratch& memory = Scratch::of_thread();
  memory.left.load(matrix(states, rows, sizes.width, state_width()));
  if (!projection.empty()) {
    const Index columns = padded_columns(sizes.projected);
    Real* const projected = memory.projected.get<Real>(padded_rows(rows) * columns);
    multiply(memory.left, memory.projection, {0, sizes.projected}, projected, columns, false);
    memory.left.load(matrix(projected, rows, sizes.projected, columns));
  }
  multiply(memory.left, memory.right, {0, sizes.direct}, products, stride, false);
}

// products: the last part of u.
void Sequence::multiply_gated(const Real* gates, Index rows, Real* products, Index stride) const {
  Scratch& memory = Scratch::of_thread();
  memory.left.load(matrix(gates, rows, sizes.width));
  multiply(memory.left, memory.inner, {0, sizes.width}, products + sizes.direct, stride, false);
}

void Sequence::run_rows(Index begin, Index end) const {
  const Index rows = end - begin, width = sizes.width, gates = sizes.gates, last = steps(begin, end);
  Scratch& memory = Scratch::of_thread();
  const Index stride =
      std::max(padded_columns(gates), cell->gate == nullptr ? 0 : sizes.direct + padded_columns(width));
  Real* const products = memory.products.get<Real>(padded_rows(rows) * stride);
  Real* const states = memory.states.get<Real>(rows * state_width());
  Real* const no_backward = memory.kept.get<Real>(cell->kept * width);
  Real* const gated_rows = memory.gated.get<Real>(rows * width);
  std::fill_n(gated_rows, rows * width, Real(0));
  load_states(begin, end, states);
  load_weights();
  const auto for_each_row = [&](Index step, const auto& body) {
    for (Index row = begin; row < end; ++row) {
      if (step >= length(row)) continue;
      const Index at = element(row, step), i = row - begin;
      body(at, CellForward{.input = input.data() + at * gates,
                           .recurrent = products + i * stride,
                           .bias = bias.data(),
                           .state = states + i * state_width(),
                           .kept = kept.empty() ? no_backward : kept.data() + at * cell->kept * width,
                           .gated = gated_rows + i * width,
                           .width = width});
    }
  };
  for (Index step = 0; step < last; ++step) {
    const bool from_zeros = step == 0 && start.empty();
    if (from_zeros) {
      std::fill_n(products, rows * stride, Real(0));
    } else {
      multiply_hidden(states, rows, products, stride);
    }
    if (cell->gate != nullptr) {
      for_each_row(step, [&](Index at, const CellForward& row) {
        cell->gate(row);
        if (!gated.empty()) std::copy_n(row.gated, width, gated.data() + at * width);
      });
      if (!from_zeros) multiply_gated(gated_rows, rows, products, stride);
    }
    for_each_row(step, [&](Index at, const CellForward& row) {
      cell->forward(row);
      std::copy_n(row.state, width, result.data() + at * width);
    });
  }
  store_ends(begin, end, states);
}

// Gradients of a sequence: of a and u at all times, and of the state it starts with.
class SequenceGradients {
 public:
  SequenceGradients(const Sequence& sequence, const Tensor& dy)
      : sequence_(sequence),
        dy_(dy),
        before_({sequence.sizes.batch, sequence.sizes.time, sequence.sizes.width}),
        da_({sequence.sizes.batch, sequence.sizes.time, sequence.sizes.gates}),
        du_(sequence.cell->adds ? da_ : Tensor(da_.shape())),
        projected_(sequence.projection.empty()
                       ? Tensor()
                       : Tensor({sequence.sizes.batch, sequence.sizes.time, sequence.sizes.projected}, Real(0))),
        start_({sequence.sizes.batch, sequence.state_width()}) {
    const Sizes& s = sequence.sizes;
    parallel_ranges(s.batch, rows_per_task(sequence.weight), [this](Index begin, Index end) { run_rows(begin, end); });
    count_matmul(s.batch, s.projected, s.gates, s.time);
    if (!projected_.empty()) count_matmul(s.batch, s.width, s.projected, s.time);
  }

  const Tensor& of_input() const { return da_; }
  Tensor of_start(std::size_t part) const {
    return start_.narrowed(1, static_cast<Index>(part) * sequence_.sizes.width, sequence_.sizes.width);
  }

  // dU (+)= sum over batch and time of du_t h_{t-1}^T, of du_t (P h_{t-1})^T, and in the last part of du_t g_t^T
  void add_weight(const GradientTarget& to) const {
    const Sizes& s = sequence_.sizes;
    Tensor multiplied = before_;
    if (!projected_.empty()) {
      multiplied = Tensor(projected_.shape());
      matmul(matrix(before_), transpose(sequence_.projection), target(multiplied));
    }
    Real* const gradient = to.tensor.data();
    const MatrixView du = matrix(du_).flipped();
    matmul(du.rows_in(0, s.direct), matrix(multiplied), target(gradient, s.direct, s.projected), 1, to.beta());
    if (sequence_.cell->gate == nullptr) return;
    matmul(du.rows_in(s.direct, s.gates), matrix(sequence_.gated),
           target(gradient + s.direct * s.width, s.width, s.width), 1, to.beta());
  }

  // dP (+)= sum over batch and time of U^T du_t h_{t-1}^T
  void add_projection(const GradientTarget& to) const {
    matmul(transpose(projected_), matrix(before_), target(to.tensor), 1, to.beta());
  }

  // db (+)= sum over batch and time of the last part of du_t
  void add_bias(const GradientTarget& to) const {
    const Sizes& s = sequence_.sizes;
    const Real* const du = du_.data() + s.gates - s.width;
    parallel_ranges(s.width, columns_per_task, [&](Index begin, Index end) {
      std::array<double, columns_per_task> sums{};
      for (Index i = 0; i < s.batch * s.time; ++i) {
        for (Index j = begin; j < end; ++j) sums[static_cast<std::size_t>(j - begin)] += du[i * s.gates + j];
      }
      for (Index j = begin; j < end; ++j) {
        to.tensor[j] = static_cast<Real>(sums[static_cast<std::size_t>(j - begin)] + (to.add ? to.tensor[j] : Real(0)));
      }
    });
  }

 private:
  // Rows [begin, end) of before_ and the gradients of their last states, and zeros at their padding everywhere.
  void prepare(Index begin, Index end) const {
    const Sizes& s = sequence_.sizes;
    for (Index row = begin; row < end; ++row) {
      const Index length = sequence_.length(row);
      const auto clear_padding = [&](const Tensor& x) {
        const Index width = x.shape()[2];
        std::fill_n(x.data() + (row * s.time + length) * width, (s.time - length) * width, Real(0));
      };
      for (const Tensor& x : {before_, da_, du_}) clear_padding(x);
      for (Index part = 0; part < sequence_.cell->states; ++part) {
        std::copy_n(last_of(dy_, s, part).data() + row * s.width, s.width,
                    start_.data() + row * sequence_.state_width() + part * s.width);
      }
      for (Index step = 0; step < length; ++step) {
        Real* const to = before_.data() + sequence_.element(row, step) * s.width;
        const Real* const from = sequence_.hidden_before(row, step);
        from == nullptr ? std::fill_n(to, s.width, Real(0)) : std::copy_n(from, s.width, to);
      }
    }
  }

  void run_rows(Index begin, Index end) const;
  // Arguments of the kernels of a row in a step; gates: du.
  CellBackward call(Index at, Real* state, Real* gates, const Real* gated = nullptr) const;
  void start_row(Index row, Index step, Real* state, Real* gates) const;

  const Sequence& sequence_;
  const Tensor dy_;      // flat, as the result
  const Tensor before_;  // h_{t-1} of each time t, [batch, time, width]
  const Tensor da_, du_;
  const Tensor projected_;  // P h_{t-1} for each time t, [batch, time, projected]; empty without a projection
  const Tensor start_;
};

CellBackward SequenceGradients::call(Index at, Real* state, Real* gates, const Real* gated) const {
  const Sequence& s = sequence_;
  const Index width = s.sizes.width;
  return {.hidden = before_.data() + at * width,
          .next_hidden = s.result.data() + at * width,
          .kept = s.kept.data() + at * s.cell->kept * width,
          .state = state,
          .input = s.cell->adds ? gates : da_.data() + at * s.sizes.gates,
          .recurrent = gates,
          .gated = gated,
          .width = width};
}

void SequenceGradients::run_rows(Index begin, Index end) const {
  const Sizes& sizes = sequence_.sizes;
  const Index width = sizes.width, gates = sizes.gates, state_width = sequence_.state_width();
  const Index rows = end - begin, stride = padded_columns(width);
  Scratch& memory = Scratch::of_thread();
  Real* const products = memory.products.get<Real>(padded_rows(rows) * stride);  // U^T du of a step, or P^T U^T du
  Real* const recurrent = memory.kept.get<Real>(rows * gates);                   // du of a step
  Real* const states = start_.data() + begin * state_width;
  prepare(begin, end);
  memory.right.load(sequence_.direct_weight());
  if (sequence_.cell->gate != nullptr) memory.inner.load(sequence_.gated_weight());
  if (!projected_.empty()) memory.projection.load(matrix(sequence_.projection));
  for (Index step = sequence_.steps(begin, end) - 1; step >= 0; --step) {
    const auto for_each_row = [&](const auto& body) {
      for (Index row = begin; row < end; ++row) {
        if (step < sequence_.length(row)) body(row - begin, sequence_.element(row, step));
      }
    };
    for (Index row = begin; row < end; ++row) {
      start_row(row, step, states + (row - begin) * state_width, recurrent + (row - begin) * gates);
    }
    if (sequence_.cell->gate != nullptr) {
      memory.left.load(matrix(recurrent + sizes.direct, rows, width, gates));
      multiply(memory.left, memory.inner, {0, width}, products, stride, false);
      for_each_row([&](Index i, Index at) {
        sequence_.cell->gate_backward(call(at, states + i * state_width, recurrent + i * gates, products + i * stride));
      });
    }
    for_each_row([&](Index i, Index at) { std::copy_n(recurrent + i * gates, gates, du_.data() + at * gates); });
    memory.left.load(matrix(recurrent, rows, sizes.direct, gates));
    if (!projected_.empty()) {
      const Index columns = padded_columns(sizes.projected);
      Real* const projected = memory.projected.get<Real>(padded_rows(rows) * columns);  // U^T du, before P^T
      multiply(memory.left, memory.right, {0, sizes.projected}, projected, columns, false);
      for_each_row([&](Index i, Index at) {
        std::copy_n(projected + i * columns, sizes.projected, projected_.data() + at * sizes.projected);
      });
      memory.left.load(matrix(projected, rows, sizes.projected, columns));
    }
    multiply(memory.left, projected_.empty() ? memory.right : memory.projection, {0, width}, products, stride, false);
    for (Index row = 0; row < rows; ++row) add_run(products + row * stride, states + row * state_width, width);
  }
}

// The cell's own part of a row in a step; du is zero at padding.
void SequenceGradients::start_row(Index row, Index step, Real* state, Real* gates) const {
  if (step >= sequence_.length(row)) {
    std::fill_n(gates, sequence_.sizes.gates, Real(0));
    return;
  }
  const Index at = sequence_.element(row, step);
  add_run(dy_.data() + at * sequence_.sizes.width, state, sequence_.sizes.width);
  sequence_.cell->backward(call(at, state, gates));
}

bool is_state(const Cell& cell, const std::vector<Variable>& state, Index batch, Index width) {
  return static_cast<Index>(state.size()) == cell.states && std::ranges::all_of(state, [&](const Variable& part) {
           return part.shape() == Shape{batch, width} && part.value().is_contiguous();
         });
}

std::vector<Tensor> values_of(const std::vector<Variable>& variables) {
  std::vector<Tensor> values;
  for (const Variable& variable : variables) values.push_back(variable.value());
  return values;
}

// Null where none is wanted.
std::vector<std::shared_ptr<Gradient>> gradients_of(const std::vector<Variable>& variables) {
  std::vector<std::shared_ptr<Gradient>> gradients;
  for (const Variable& variable : variables) gradients.push_back(variable.gradient());
  return gradients;
}

Tensor bias_or_zeros(const Variable& bias, Index width) {
  return bias.empty() ? Tensor({width}, Real(0)) : bias.value();
}

// One time of all rows, which its forward and its backward pass share.
struct SingleStep {
  const Cell* cell;
  Index batch, gates, width;
  Tensor bias;                 // never empty
  std::vector<Tensor> before;  // the parts of the state
  Tensor kept, after;          // [batch, kept width]; [states, batch, width]

  struct Gradients {
    Tensor input, recurrent, state;  // the last [states, batch, width]
  };
  Tensor part_of(const Tensor& states, Index part) const {
    return states.narrowed(0, part, 1).reshaped({batch, width});
  }

  void forward(const Tensor& input, const Tensor& recurrent) const {
    for_rows([&](Index row, Real* state) {
      for (std::size_t part = 0; part < before.size(); ++part) {
        std::copy_n(before[part].data() + row * width, width, state + static_cast<Index>(part) * width);
      }
      cell->forward({.input = input.data() + row * gates,
                     .recurrent = recurrent.data() + row * gates,
                     .bias = bias.data(),
                     .state = state,
                     .kept = kept.data() + row * cell->kept * width,
                     .gated = nullptr,
                     .width = width});
      put_row(state, row, after);
    });
  }

  Gradients backward(const Tensor& dy) const {
    const Tensor da({batch, gates}, Real(0)), du = cell->adds ? da : Tensor({batch, gates}), dstate(after.shape());
    for_rows([&](Index row, Real* state) {
      for (Index part = 0; part < cell->states; ++part) {
        std::copy_n(dy.data() + (part * batch + row) * width, width, state + part * width);
      }
      cell->backward({.hidden = before[0].data() + row * width,
                      .next_hidden = after.data() + row * width,
                      .kept = kept.data() + row * cell->kept * width,
                      .state = state,
                      .input = da.data() + row * gates,
                      .recurrent = du.data() + row * gates,
                      .gated = nullptr,
                      .width = width});
      put_row(state, row, dstate);
    });
    return {da, du, dstate};
  }

  void add_bias(const Tensor& du, const Tensor& sum) const {
    parallel_ranges(width, columns_per_task, [&](Index begin, Index end) {
      for (Index row = 0; row < batch; ++row) {
        add_run(du.data() + (row + 1) * gates - width + begin, sum.data() + begin, end - begin);
      }
    });
  }

 private:
  // Calls body(row, state) with room for the parts of a row's state.
  template <class Body>
  void for_rows(const Body& body) const {
    parallel_ranges(batch, step_rows_per_task, [&](Index begin, Index end) {
      Real* const state = Scratch::of_thread().states.get<Real>(cell->states * width);
      for (Index row = begin; row < end; ++row) body(row, state);
    });
  }
  void put_row(const Real* state, Index row, const Tensor& to) const {
    for (Index part = 0; part < cell->states; ++part) {
      std::copy_n(state + part * width, width, to.data() + (part * batch + row) * width);
    }
  }
};

// Tasks multiply by Reals or bfloat16.
Tensor multiplied(const Tensor& weight) {
  return weight.dtype() == DType::bfloat16 ? weight : weight.as(DType::real);
}

Sizes checked_sizes(const Cell& cell, const RecurrentWeights& weights, const Shape& input) {
  const Shape &shape = weights.recurrent.shape(), &projection = weights.projection.shape();
  const bool projects = !weights.projection.empty();
  check<ShapeError>(!projects || (cell.gate == nullptr && projection.rank() == 2 && shape[-1] == projection[0] &&
                                  weights.projection.value().is_contiguous()),
                    cell.name, " cell: a projection of shape ", projection, " and recurrent weights of shape ", shape);
  const Index width = projects ? projection[1] : shape[-1];
  check<ShapeError>(shape.rank() == 2 && shape[0] == cell.gates * width && input[-1] == shape[0] &&
                        weights.recurrent.value().is_contiguous(),
                    cell.name, " cell: input of shape ", input, " and recurrent weights of shape ", shape);
  check<ShapeError>(weights.bias.empty() || (cell.recurrent_bias && weights.bias.shape() == Shape{width}), cell.name,
                    " cell: recurrent bias of shape ", weights.bias.shape(), " for a width of ", width);
  return {input[0], input[1], width, input[2], cell.direct_gates() * width, shape[1]};
}

void check_lengths(const std::vector<Index>& lengths, const Shape& input) {
  check<ShapeError>(lengths.empty() || static_cast<Index>(lengths.size()) == input[0], lengths.size(),
                    " lengths for input of shape ", input);
  for (const Index length : lengths) {
    check<ShapeError>(length >= 1 && length <= input[1], "a row of ", length, " of ", input[1], " times");
  }
}

}  // namespace

RecurrentResult recurrent(const Cell& cell, const Variable& input, const RecurrentWeights& weights,
                          const RecurrentSequence& options) {
  const Section section("recurrent");
  check<ShapeError>(input.shape().rank() == 3 && input.value().is_contiguous(), cell.name, " cell: input of shape ",
                    input.shape(), " instead of [batch, time, gates width], contiguous");
  const Sizes sizes = checked_sizes(cell, weights, input.shape());
  check_lengths(options.lengths, input.shape());
  check<ShapeError>(options.start.empty() || is_state(cell, options.start, sizes.batch, sizes.width), cell.name,
                    " cell: a start that is not ", cell.states, " of ", Shape{sizes.batch, sizes.width});
  const bool keeps = Recording::current() != nullptr;
  const Shape kept{sizes.batch, sizes.time, cell.kept * sizes.width};
  Sequence sequence{
      .cell = &cell,
      .sizes = sizes,
      .lengths = options.lengths,
      .reverse = options.reverse,
      .input = input.value(),
      .weight = multiplied(weights.recurrent.value()),
      .bias = bias_or_zeros(weights.bias, sizes.width),
      .projection = weights.projection.empty() ? Tensor() : multiplied(weights.projection.value()),
      .start = values_of(options.start),
      .kept = keeps ? Tensor(kept) : Tensor(),
      .gated = keeps && cell.gate != nullptr ? Tensor({sizes.batch, sizes.time, sizes.width}, Real(0)) : Tensor(),
      .result = Tensor({(sizes.batch * (sizes.time + cell.states)) * sizes.width}),
  };
  parallel_ranges(sizes.batch, rows_per_task(sequence.weight),
                  [&](Index begin, Index end) { sequence.run_rows(begin, end); });
  count_matmul(sizes.batch, sizes.gates, sizes.projected, sizes.time);
  if (!sequence.projection.empty()) count_matmul(sizes.batch, sizes.projected, sizes.width, sizes.time);
  sequence.input = Tensor();  // the backward pass does without
  std::vector<Variable> inputs{input, weights.recurrent, weights.bias, weights.projection};
  inputs.insert(inputs.end(), options.start.begin(), options.start.end());
  const Variable flat = record(sequence.result, inputs, [sequence, wanted = gradients_of(inputs)](const Tensor& dy) {
    const SequenceGradients gradients(sequence, dy);
    if (wanted[1]) gradients.add_weight(wanted[1]->target());
    if (wanted[2]) gradients.add_bias(wanted[2]->target());
    if (wanted[3]) gradients.add_projection(wanted[3]->target());
    for (std::size_t part = 0; part + 4 < wanted.size(); ++part) {
      if (wanted[part + 4]) wanted[part + 4]->contribute(gradients.of_start(part));
    }
    if (wanted[0]) wanted[0]->contribute(gradients.of_input());
  });
  RecurrentResult result{view(flat, [sizes](const Tensor& t) { return hidden_of(t, sizes); }), {}};
  for (Index part = 0; part < cell.states; ++part) {
    result.last.push_back(view(flat, [sizes, part](const Tensor& t) { return last_of(t, sizes, part); }));
  }
  return result;
}

Variable recurrent_gate(const Cell& cell, const Variable& input, const Variable& recurrent,
                        const std::vector<Variable>& state) {
  const Section section("recurrent step");
  check<ShapeError>(cell.gate != nullptr && input.shape().rank() == 2 && input.shape()[1] % cell.gates == 0 &&
                        input.value().is_contiguous() && recurrent.value().is_contiguous(),
                    cell.name, " cell: a gate of input of shape ", input.shape());
  const Index batch = input.shape()[0], width = input.shape()[1] / cell.gates, direct = cell.direct_gates() * width;
  check<ShapeError>(recurrent.shape() == Shape{batch, direct} && is_state(cell, state, batch, width), cell.name,
                    " cell: a gate of a recurrent product of shape ", recurrent.shape(), " and such a state");
  const Tensor gated({batch, width}), kept({batch, cell.kept * width}), hidden = state.front().value();
  parallel_ranges(batch, step_rows_per_task, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      cell.gate({.input = input.value().data() + row * cell.gates * width,
                 .recurrent = recurrent.value().data() + row * direct,
                 .bias = nullptr,
                 .state = hidden.data() + row * width,
                 .kept = kept.data() + row * cell.kept * width,
                 .gated = gated.data() + row * width,
                 .width = width});
    }
  });
  return record(gated, {input, recurrent, state.front()},
                [=, &cell, d_input = input.gradient(), d_recurrent = recurrent.gradient(),
                 d_hidden = state.front().gradient()](const Tensor& dy) {
                  const Tensor da({batch, cell.gates * width}, Real(0)), dh({batch, width}, Real(0));
                  parallel_ranges(batch, step_rows_per_task, [&](Index begin, Index end) {
                    for (Index row = begin; row < end; ++row) {
                      Real* const gates = da.data() + row * cell.gates * width;
                      cell.gate_backward({.hidden = hidden.data() + row * width,
                                          .next_hidden = nullptr,
                                          .kept = kept.data() + row * cell.kept * width,
                                          .state = dh.data() + row * width,
                                          .input = gates,
                                          .recurrent = gates,
                                          .gated = dy.data() + row * width,
                                          .width = width});
                    }
                  });
                  if (d_hidden) d_hidden->contribute(dh);
                  if (d_recurrent) d_recurrent->contribute(da.narrowed(1, 0, direct).copy());
                  if (d_input) d_input->contribute(da);
                });
}

std::vector<Variable> recurrent_step(const Cell& cell, const Variable& input, const Variable& recurrent,
                                     const Variable& bias, const std::vector<Variable>& state) {
  const Section section("recurrent step");
  check<ShapeError>(
      input.shape().rank() == 2 && input.shape()[1] % cell.gates == 0 && recurrent.shape() == input.shape() &&
          input.value().is_contiguous() && recurrent.value().is_contiguous(),
      cell.name, " cell: input of shape ", input.shape(), " and recurrent product of shape ", recurrent.shape());
  const Index batch = input.shape()[0], width = input.shape()[1] / cell.gates;
  check<ShapeError>(is_state(cell, state, batch, width), cell.name, " cell: a state that is not ", cell.states, " of ",
                    Shape{batch, width});
  const SingleStep step{.cell = &cell,
                        .batch = batch,
                        .gates = input.shape()[1],
                        .width = width,
                        .bias = bias_or_zeros(bias, width),
                        .before = values_of(state),
                        .kept = Tensor({batch, cell.kept * width}),
                        .after = Tensor({cell.states, batch, width})};
  step.forward(input.value(), recurrent.value());
  std::vector<Variable> inputs{input, recurrent, bias};
  inputs.insert(inputs.end(), state.begin(), state.end());
  const Variable all = record(step.after, inputs, [step, wanted = gradients_of(inputs)](const Tensor& dy) {
    const SingleStep::Gradients gradients = step.backward(dy);
    if (wanted[2]) step.add_bias(gradients.recurrent, wanted[2]->adding_target());
    for (std::size_t part = 0; part < step.before.size(); ++part) {
      if (wanted[part + 3]) wanted[part + 3]->contribute(step.part_of(gradients.state, static_cast<Index>(part)));
    }
    if (wanted[0]) wanted[0]->contribute(gradients.input);
    if (wanted[1]) wanted[1]->contribute(gradients.recurrent);
  });
  std::vector<Variable> result;
  for (Index part = 0; part < cell.states; ++part) {
    result.push_back(view(all, [=](const Tensor& t) {
      return t.narrowed(0, part, 1).reshaped({t.shape()[1], t.shape()[2]});
    }));
  }
  return result;
}

}  // namespace heddle::ops
