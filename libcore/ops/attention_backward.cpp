#include "libcore/ops/attention_passes.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

// Gradients that tasks add to. No two tasks of a wave share a row of anything.
struct Targets {
  Tensor query, key, value;  // [batch, heads, time, width]
  Tensor bias;               // [heads of a pass, query_time, key_time]; empty when it is not needed
  Tensor offset_bias;        // [batch heads groups, 2 reach + 1]; likewise
  Tensor query_bias;         // [batch, heads, query_time, offsets]; likewise
};

// A thread's memory, kept from task to task.
struct Scratch {
  Operand values{Operand::Side::right}, key_rows{Operand::Side::right};
  Operand query_rows{Operand::Side::right}, dy_rows{Operand::Side::right};
  Operand dy{Operand::Side::left}, weights{Operand::Side::left};
  Workspace dweights, dquery, dkeys, dvalues, diagonals;
  ScoreTiles tiles;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// table[clip(first + i, 0, size - 1)] += x_i
void add_clipped(const Real* x, Index count, Index first, Index size, Real* table) {
  const Index begin = std::clamp(-first, Index{0}, count), end = std::clamp(size - first, begin, count);
  for (Index i = 0; i < begin; ++i) table[0] += x[i];
  for (Index i = begin; i < end; ++i) table[first + i] += x[i];
  for (Index i = end; i < count; ++i) table[size - 1] += x[i];
}

Real* zeros(Workspace& memory, Index count) {
  Real* const values = memory.get<Real>(count);
  std::fill_n(values, count, Real(0));
  return values;
}

// One head of one batch, some of its queries and keys.
class BackwardTask {
 public:
  BackwardTask(const AttentionProblem& problem, const Tensor& dy, const Targets& targets, Index batch, Index head)
      : problem_(problem),
        sizes_(problem.sizes),
        batch_(batch),
        head_(head),
        dquery_tables_(targets.query_bias),
        scores_(problem, batch, head),
        value_(head_of(problem.value, batch, sizes_.kv_head(head))),
        dy_(head_of_result(dy, batch, head)),
        y_(problem.y.empty() ? dy_ : head_of_result(problem.y, batch, head)),
        dquery_(head_of(targets.query, batch, head)),
        dkey_(head_of(targets.key, batch, head)),
        dvalue_(head_of(targets.value, batch, head)),
        log_sums_(problem.log_sums_of(batch, head)),
        key_stride_(padded_columns(sizes_.key_width)),
        value_stride_(padded_columns(sizes_.value_width)) {}

  // Destinations of the gradients of biases: [query_time, key_time] and [2 reach + 1]; null when they are not needed.
  void set_bias_targets(Real* bias, Real* table) {
    dbias_ = bias;
    dtable_ = table;
  }

  void run(const Mask::Range& queries, const Mask::Range& keys) {
    const Mask::Range needed = tiles_among(problem_, batch_, queries, keys, memory_.tiles);
    if (needed.is_empty()) return;
    first_key_ = needed.begin;
    const Index count = needed.end - needed.begin;
    scores_.load_keys(needed);
    memory_.values.load(value_.rows_in(needed.begin, needed.end).flipped());
    memory_.key_rows.load(scores_.key().rows_in(needed.begin, needed.end));
    dkeys_ = zeros(memory_.dkeys, padded_rows(count) * key_stride_);
    dvalues_ = zeros(memory_.dvalues, padded_rows(count) * value_stride_);
    for (const ScoreTile& tile : memory_.tiles) {
      if (!tile.is_empty()) backward_tile(tile);
    }
    add_to(dkey_, first_key_, count, dkeys_, key_stride_);
    add_to(dvalue_, first_key_, count, dvalues_, value_stride_);
  }

 private:
  void backward_tile(const ScoreTile& tile) {
    const Index stride = tile.stride(), end = tile.query + tile.rows, key = tile.key - first_key_;
    Real* const weights = scores_.multiply_tile(tile);
    Real* const dweights = memory_.dweights.get<Real>(padded_rows(tile.rows) * stride);
    memory_.dy.load(dy_.rows_in(tile.query, end));
    memory_.query_rows.load(scores_.query().rows_in(tile.query, end));
    memory_.dy_rows.load(dy_.rows_in(tile.query, end));
    // dP = dY V^T, then row by row dS = P (dP - rowsum(P dP)) in its place
    multiply(memory_.dy, memory_.values, {key, tile.columns}, dweights, stride, false, tile.scores());
    backward_rows(tile, weights, dweights);
    // dV += P^T dY
    memory_.weights.load(transpose(weights, tile.rows, tile.columns, stride));
    multiply(memory_.weights, memory_.dy_rows, {0, sizes_.value_width}, dvalues_ + key * value_stride_, value_stride_,
             true, tile.transposed_weights());
    // dK += scale dS^T Q
    memory_.weights.load(transpose(dweights, tile.rows, tile.columns, stride));
    multiply(memory_.weights, memory_.query_rows, {0, sizes_.key_width}, dkeys_ + key * key_stride_, key_stride_, true,
             tile.transposed_weights());
    // dQ += scale dS K
    Real* const dquery = memory_.dquery.get<Real>(padded_rows(tile.rows) * key_stride_);
    memory_.weights.load(matrix(dweights, tile.rows, tile.columns, stride));
    multiply(memory_.weights, memory_.key_rows, {0, sizes_.key_width, key}, dquery, key_stride_, false, tile.weights());
    add_to(dquery_, tile.query, tile.rows, dquery, key_stride_);
  }

  void backward_rows(const ScoreTile& tile, Real* weights, Real* dweights) {
    const Index stride = tile.stride(), diagonals = tile.rows + tile.columns - 1;
    if (dtable_ != nullptr) ddiagonals_ = zeros(memory_.diagonals, diagonals);
    for (Index row = 0; row < tile.rows; ++row) {
      softmax_backward_row(tile, row, weights + row * stride, dweights + row * stride);
    }
    if (dtable_ != nullptr) {
      const Index reach = problem_.reach();
      add_clipped(ddiagonals_, diagonals, tile.key - tile.position - (tile.rows - 1) + reach, 2 * reach + 1, dtable_);
    }
  }

  // A row of products becomes weights, a row of derivatives of weights becomes derivatives of products.
  void softmax_backward_row(const ScoreTile& tile, Index row, Real* products, Real* derivatives) {
    tile.clear_others(row, derivatives);
    RowPart part = tile.clear_others(row, products);
    const Index first = tile.first(row), query = tile.query + row;
    Real *const x = products + first, *const d = derivatives + first;
    const Real score_scale = scores_.finish_row(tile, row, x, part), log_sum = log_sums_[query];
    if (log_sum == no_score) part.end = part.begin;  // every score is minus infinity, every weight zero
    const Real sum = recompute_weights(x, score_scale, log_sum, d, part);
    const Real mean = problem_.y.empty() ? sum : mean_from_result(query), scale = problem_.options.scale;
    if (dbias_ == nullptr && dtable_ == nullptr && dquery_tables_.empty()) {
      return softmax_backward(x, d, mean, scale, part);
    }
    softmax_backward(x, d, mean, 1, part);
    if (dbias_ != nullptr) add_row(d, dbias_ + query * sizes_.key_time + tile.key + first, part);
    if (dtable_ != nullptr) add_row(d, ddiagonals_ + tile.rows - 1 - row + first, part);
    if (!dquery_tables_.empty()) add_to_query_table(tile, row, d - first);
    store_scaled(d, scale, d, part.length);
  }

  void add_to_query_table(const ScoreTile& tile, Index row, const Real* derivatives) {
    const Tensor& tables = dquery_tables_;
    const ScoreTile::Columns allowed = tile.allowed[static_cast<std::size_t>(row)];
    Real* const table =
        tables.data() + ((batch_ * sizes_.heads + head_) * sizes_.query_time + tile.query + row) * tables.shape()[3];
    add_clipped(derivatives + allowed.begin, allowed.end - allowed.begin,
                tile.key + allowed.begin - tile.position - row + problem_.options.query_bias.zero, tables.shape()[3],
                table);
  }

  // rowsum(P dP) over all keys = dy . y
  Real mean_from_result(Index query) const {
    return with_row(dy_, query,
                    [&]<class T>(const T* dy) { return dot(dy, y_.as<T>() + query * y_.stride, sizes_.value_width); });
  }

  static void add_to(const MatrixView& target, Index first, Index rows, const Real* values, Index stride) {
    with_row_to_write(target, first,
                      [&](auto* to) { add_rows(values, stride, to, target.stride, rows, target.columns); });
  }

  const AttentionProblem& problem_;
  const AttentionSizes& sizes_;
  const Index batch_, head_;
  const Tensor dquery_tables_;
  HeadScores scores_;
  const MatrixView value_, dy_, y_, dquery_, dkey_, dvalue_;
  const Real* const log_sums_;
  const Index key_stride_, value_stride_;
  Real* dbias_ = nullptr;
  Real* dtable_ = nullptr;
  Real* ddiagonals_ = nullptr;
  Real* dkeys_ = nullptr;
  Real* dvalues_ = nullptr;
  Index first_key_ = 0;
  Scratch& memory_ = scratch();
};

// The range of memory that contains the elements of a tensor.
struct Extent {
  const std::byte *begin, *end;
};
Extent extent_of(const Tensor& t) {
  Index last = 0;
  for (int i = 0; i < t.rank(); ++i) last += (t.shape()[i] - 1) * t.stride(i);
  const auto* begin = static_cast<const std::byte*>(t.raw());
  return {begin, begin + (last + 1) * static_cast<Index>(bytes_of(t.dtype()))};
}
bool disjoint(const Tensor& a, const Tensor& b) {
  const Extent x = extent_of(a), y = extent_of(b);
  return x.end <= y.begin || y.end <= x.begin;
}

// All tasks, in waves: wave w has those of group i of queries with chunk (i + w) mod n of keys, so that no two of them
// add to the same rows, and every sum is taken in the order of the waves.
class BackwardPass {
 public:
  BackwardPass(const AttentionProblem& problem, const Tensor& dy, const AttentionGradients& gradients)
      : problem_(problem),
        sizes_(problem.sizes),
        cut_(problem),
        dy_(dy),
        gradients_(gradients),
        heads_(sizes_.batch * sizes_.heads) {}

  void run() {
    choose_targets();
    const bool wants_bias = gradients_.bias != nullptr;
    const Index at_once = wants_bias && shares_bias() ? std::min(heads_, heads_with_bias_at_once) : heads_;
    if (wants_bias) dbias_ = Tensor(problem_.bias.shape(), 0);
    for (Index head = 0; head < heads_; head += at_once) {
      const Index count = std::min(at_once, heads_ - head);
      if (wants_bias) targets_.bias = shares_bias() ? Tensor({count, sizes_.query_time, sizes_.key_time}, 0) : dbias_;
      run_heads(head, count);
      if (wants_bias && shares_bias()) add_bias_of(head, count);
    }
    if (!direct_) collect();
    if (gradients_.bias) gradients_.bias->contribute(dbias_.as(problem_.options.bias.value().dtype()));
    if (gradients_.offset_bias) contribute_offset_bias();
    if (gradients_.query_bias) {
      gradients_.query_bias->contribute(targets_.query_bias.as(problem_.options.query_bias.values.value().dtype()));
    }
  }

 private:
  static constexpr Index heads_with_bias_at_once = 16;

  bool shares_bias() const {
    return problem_.bias.shape()[0] != sizes_.batch || problem_.bias.shape()[1] != sizes_.heads;
  }

  // Tasks add to the gradients themselves where each row gets its sum from one task, or where nothing is rounded
  // between tasks and the gradients do not overlap, as those of views of one tensor may. Else to Reals per head.
  void choose_targets() {
    const auto target_of = [](const std::shared_ptr<Gradient>& gradient, const Tensor& like) {
      return gradient ? gradient->adding_target() : Tensor(like.shape(), 0);
    };
    const bool whole = cut_.groups <= 1 && cut_.chunks <= 1;
    if (sizes_.group() == 1) {
      targets_.query = target_of(gradients_.query, problem_.query);
      targets_.key = target_of(gradients_.key, problem_.key);
      targets_.value = target_of(gradients_.value, problem_.value);
      direct_ = whole || (are_reals() && disjoint(targets_.query, targets_.key) &&
                          disjoint(targets_.query, targets_.value) && disjoint(targets_.key, targets_.value));
    }
    if (!direct_) {
      targets_.query = Tensor(problem_.query.shape(), 0);
      targets_.key = Tensor({sizes_.batch, sizes_.heads, sizes_.key_time, sizes_.key_width}, 0);
      targets_.value = Tensor({sizes_.batch, sizes_.heads, sizes_.key_time, sizes_.value_width}, 0);
    }
    if (gradients_.offset_bias) {
      targets_.offset_bias = Tensor({heads_ * cut_.groups, problem_.offset_bias.shape()[1]}, 0);
    }
    if (gradients_.query_bias) targets_.query_bias = Tensor(problem_.query_bias.shape(), 0);
  }

  bool are_reals() const {
    const auto is_real = [](const Tensor& t) { return t.dtype() == DType::real; };
    return is_real(targets_.query) && is_real(targets_.key) && is_real(targets_.value);
  }

  void run_heads(Index first, Index count) {
    const Index side = std::max(cut_.groups, cut_.chunks);
    for (Index wave = 0; wave < side; ++wave) {
      parallel_for(count * side, [&](Index task) {
        const Index group = task / count, chunk = (group + wave) % side;
        if (group < cut_.groups && chunk < cut_.chunks) run_task(first, task % count, group, chunk);
      });
    }
  }

  void run_task(Index first, Index index, Index group, Index chunk) {
    const Index head = first + index;
    BackwardTask task(problem_, dy_, targets_, head / sizes_.heads, head % sizes_.heads);
    const Index scores = sizes_.query_time * sizes_.key_time;
    Real* const bias = targets_.bias.empty() ? nullptr : targets_.bias.data() + index * scores;
    const Tensor& tables = targets_.offset_bias;
    Real* const table = tables.empty() ? nullptr : tables.data() + (head * cut_.groups + group) * tables.shape()[1];
    task.set_bias_targets(bias, table);
    task.run(cut_.queries_of(group, sizes_), cut_.keys_of(chunk, sizes_));
  }

  // Adds the heads' parts of a shared bias, in their order.
  void add_bias_of(Index first, Index count) {
    const Index width = sizes_.key_time, rows = sizes_.query_time;
    const Shape shape = dbias_.shape();
    parallel_for(rows, [&](Index row) {
      for (Index i = 0; i < count; ++i) {
        const Index batch = shape[0] == 1 ? 0 : (first + i) / sizes_.heads;
        const Index head = shape[1] == 1 ? 0 : (first + i) % sizes_.heads;
        add_rows(targets_.bias.data() + (i * rows + row) * width, width,
                 dbias_.data() + ((batch * shape[1] + head) * rows + row) * width, width, 1, width);
      }
    });
  }

  // From sums per head to the gradients; the heads of a group in their order.
  void collect() {
    const auto add_group = [&](const std::shared_ptr<Gradient>& gradient, const Tensor& sums, Index group) {
      if (!gradient) return;
      const Tensor target = gradient->adding_target();
      const Index groups = sizes_.heads / group;
      parallel_for(sizes_.batch * groups, [&](Index task) {
        const Index batch = task / groups, first = task % groups * group;
        const MatrixView sum = head_of(sums, batch, first), to = head_of(target, batch, task % groups);
        const auto add = [&](const MatrixView& from, const MatrixView& into) {
          with_row_to_write(into, 0, [&](auto* y) {
            add_rows(from.as<Real>(), from.stride, y, into.stride, from.rows, from.columns);
          });
        };
        for (Index head = 1; head < group; ++head) add(head_of(sums, batch, first + head), sum);
        add(sum, to);
      });
    };
    add_group(gradients_.query, targets_.query, 1);
    add_group(gradients_.key, targets_.key, sizes_.group());
    add_group(gradients_.value, targets_.value, sizes_.group());
  }

  void contribute_offset_bias() {
    const Tensor& parts = targets_.offset_bias;
    const Shape shape = problem_.offset_bias.shape();
    const Tensor sums(shape);
    const bool shared = shape[0] == 1;
    parallel_for(shape[0], [&](Index row) {
      for (Index entry = 0; entry < shape[1]; ++entry) {
        double sum = 0;
        for (Index part = 0; part < parts.shape()[0]; ++part) {
          const Index head = part / cut_.groups % sizes_.heads;
          if (shared || head == row) sum += static_cast<double>(parts[part * shape[1] + entry]);
        }
        sums[row * shape[1] + entry] = static_cast<Real>(sum);
      }
    });
    gradients_.offset_bias->contribute(sums.as(problem_.options.offset_bias.value().dtype()));
  }

  const AttentionProblem& problem_;
  const AttentionSizes& sizes_;
  const TaskCut cut_;
  const Tensor& dy_;
  const AttentionGradients& gradients_;
  const Index heads_;
  Targets targets_;
  Tensor dbias_;
  bool direct_ = false;
};

}  // namespace

void attention_backward(const AttentionProblem& problem, const Tensor& dy, const AttentionGradients& gradients) {
  BackwardPass(problem, dy, gradients).run();
}

}  // namespace heddle::ops
